# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def tvmgen_default_fused_nn_contrib_dense_pack_add_tanh(args: T.handle, arg_type_ids: T.handle("int32"), num_args: T.int32, out_ret_value: T.handle("void"), out_ret_tcode: T.handle("int32"), resource_handle: T.handle) -> T.int32:
        T.func_attr({"calling_conv": 1, "from_legacy_te_schedule": T.bool(True), "hash": "a981879ffde0f545", "target": T.target({"keys": ["cpu"], "kind": "llvm", "mcpu": "x86-64-v3", "num-cores": 1, "tag": ""}), "tir.is_entry_func": T.bool(True), "tir.noalias": T.bool(True)})
        assert num_args == 4, "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh: num_args should be 4"
        assert not T.isnullptr(args), "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh: TVMValue* arg pointer was NULL"
        assert not T.isnullptr(arg_type_ids), "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh: int* type_codes was NULL"
        arg_type_ids_1 = T.decl_buffer((4,), "int32", data=arg_type_ids)
        p0_code: T.int32 = arg_type_ids_1[0]
        assert p0_code == 3 or p0_code == 13 or p0_code == 7 or p0_code == 4, "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh: Expect arg[0] to be pointer"
        p1_code: T.int32 = arg_type_ids_1[1]
        assert p1_code == 3 or p1_code == 13 or p1_code == 7 or p1_code == 4, "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh: Expect arg[1] to be pointer"
        p2_code: T.int32 = arg_type_ids_1[2]
        assert p2_code == 3 or p2_code == 13 or p2_code == 7 or p2_code == 4, "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh: Expect arg[2] to be pointer"
        T_tanh_code: T.int32 = arg_type_ids_1[3]
        assert T_tanh_code == 3 or T_tanh_code == 13 or T_tanh_code == 7 or T_tanh_code == 4, "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh: Expect arg[3] to be pointer"
        p0: T.handle = T.tvm_struct_get(args, 0, 12, "handle")
        p1: T.handle = T.tvm_struct_get(args, 1, 12, "handle")
        p2: T.handle = T.tvm_struct_get(args, 2, 12, "handle")
        T_tanh: T.handle = T.tvm_struct_get(args, 3, 12, "handle")
        assert not T.isnullptr(p0), "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p0 is expected to have non-NULL DLTensor* pointer"
        assert 2 == T.tvm_struct_get(p0, 0, 4, "int32"), "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p0.ndim is expected to equal 2"
        tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p0_shape: T.handle("int64") = T.tvm_struct_get(p0, 0, 2, "handle")
        tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p0_shape_1 = T.decl_buffer((2,), "int64", data=tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p0_shape)
        tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p0_strides: T.handle("int64") = T.tvm_struct_get(p0, 0, 3, "handle")
        tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p0_strides_1 = T.decl_buffer((0,), "int64", data=tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p0_strides)
        dev_id: T.int32 = T.tvm_struct_get(p0, 0, 9, "int32")
        p0_1: T.handle("float32") = T.tvm_struct_get(p0, 0, 1, "handle")
        T.attr(p0_1, "storage_alignment", 64)
        assert not T.isnullptr(p1), "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p1 is expected to have non-NULL DLTensor* pointer"
        assert 3 == T.tvm_struct_get(p1, 0, 4, "int32"), "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p1.ndim is expected to equal 3"
        tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p1_shape: T.handle("int64") = T.tvm_struct_get(p1, 0, 2, "handle")
        tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p1_shape_1 = T.decl_buffer((3,), "int64", data=tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p1_shape)
        tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p1_strides: T.handle("int64") = T.tvm_struct_get(p1, 0, 3, "handle")
        tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p1_strides_1 = T.decl_buffer((0,), "int64", data=tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p1_strides)
        p1_1: T.handle("float32") = T.tvm_struct_get(p1, 0, 1, "handle")
        T.attr(p1_1, "storage_alignment", 64)
        assert not T.isnullptr(p2), "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p2 is expected to have non-NULL DLTensor* pointer"
        assert 2 == T.tvm_struct_get(p2, 0, 4, "int32"), "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p2.ndim is expected to equal 2"
        tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p2_shape: T.handle("int64") = T.tvm_struct_get(p2, 0, 2, "handle")
        tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p2_shape_1 = T.decl_buffer((2,), "int64", data=tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p2_shape)
        tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p2_strides: T.handle("int64") = T.tvm_struct_get(p2, 0, 3, "handle")
        tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p2_strides_1 = T.decl_buffer((0,), "int64", data=tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p2_strides)
        p2_1: T.handle("float32") = T.tvm_struct_get(p2, 0, 1, "handle")
        T.attr(p2_1, "storage_alignment", 64)
        assert not T.isnullptr(T_tanh), "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.T_tanh is expected to have non-NULL DLTensor* pointer"
        assert 2 == T.tvm_struct_get(T_tanh, 0, 4, "int32"), "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.T_tanh.ndim is expected to equal 2"
        tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_T_tanh_shape: T.handle("int64") = T.tvm_struct_get(T_tanh, 0, 2, "handle")
        tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_T_tanh_shape_1 = T.decl_buffer((2,), "int64", data=tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_T_tanh_shape)
        tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_T_tanh_strides: T.handle("int64") = T.tvm_struct_get(T_tanh, 0, 3, "handle")
        tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_T_tanh_strides_1 = T.decl_buffer((0,), "int64", data=tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_T_tanh_strides)
        T_tanh_1: T.handle("float32") = T.tvm_struct_get(T_tanh, 0, 1, "handle")
        T.attr(T_tanh_1, "storage_alignment", 64)
        assert T.tvm_struct_get(p0, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(p0, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(p0, 0, 7, "uint16") == T.uint16(1), "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p0.dtype is expected to be float32"
        assert T.Cast("int32", tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p0_shape_1[0]) == 2, "Argument tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p0.shape[0] has an unsatisfied constraint: 2 == T.Cast(\"int32\", tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p0_shape[0])"
        assert T.Cast("int32", tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p0_shape_1[1]) == 8, "Argument tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p0.shape[1] has an unsatisfied constraint: 8 == T.Cast(\"int32\", tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p0_shape[1])"
        if not T.isnullptr(tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p0_strides):
            assert 1 == T.Cast("int32", tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p0_strides_1[1]) and 8 == T.Cast("int32", tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p0_strides_1[0]), "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p0.strides: expected to be compact array"
            T.evaluate(0)
        assert T.uint64(0) == T.tvm_struct_get(p0, 0, 8, "uint64"), "Argument tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p0.byte_offset has an unsatisfied constraint: T.uint64(0) == T.tvm_struct_get(p0, 0, 8, \"uint64\")"
        assert T.tvm_struct_get(p0, 0, 10, "int32") == 1, "Argument tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p0.device_type has an unsatisfied constraint: 1 == T.tvm_struct_get(p0, 0, 10, \"int32\")"
        assert not T.isnullptr(p0_1), "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p0 is expected to have non-NULL data pointer"
        assert T.tvm_struct_get(p1, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(p1, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(p1, 0, 7, "uint16") == T.uint16(1), "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p1.dtype is expected to be float32"
        assert T.Cast("int32", tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p1_shape_1[0]) == 1, "Argument tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p1.shape[0] has an unsatisfied constraint: 1 == T.Cast(\"int32\", tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p1_shape[0])"
        assert T.Cast("int32", tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p1_shape_1[1]) == 8, "Argument tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p1.shape[1] has an unsatisfied constraint: 8 == T.Cast(\"int32\", tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p1_shape[1])"
        assert T.Cast("int32", tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p1_shape_1[2]) == 4, "Argument tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p1.shape[2] has an unsatisfied constraint: 4 == T.Cast(\"int32\", tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p1_shape[2])"
        if not T.isnullptr(tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p1_strides):
            assert 1 == T.Cast("int32", tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p1_strides_1[2]) and 4 == T.Cast("int32", tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p1_strides_1[1]), "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p1.strides: expected to be compact array"
            T.evaluate(0)
        assert T.uint64(0) == T.tvm_struct_get(p1, 0, 8, "uint64"), "Argument tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p1.byte_offset has an unsatisfied constraint: T.uint64(0) == T.tvm_struct_get(p1, 0, 8, \"uint64\")"
        assert T.tvm_struct_get(p1, 0, 10, "int32") == 1, "Argument tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p1.device_type has an unsatisfied constraint: 1 == T.tvm_struct_get(p1, 0, 10, \"int32\")"
        assert dev_id == T.tvm_struct_get(p1, 0, 9, "int32"), "Argument tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p1.device_id has an unsatisfied constraint: dev_id == T.tvm_struct_get(p1, 0, 9, \"int32\")"
        assert not T.isnullptr(p1_1), "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p1 is expected to have non-NULL data pointer"
        assert T.tvm_struct_get(p2, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(p2, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(p2, 0, 7, "uint16") == T.uint16(1), "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p2.dtype is expected to be float32"
        assert T.Cast("int32", tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p2_shape_1[0]) == 1, "Argument tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p2.shape[0] has an unsatisfied constraint: 1 == T.Cast(\"int32\", tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p2_shape[0])"
        assert T.Cast("int32", tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p2_shape_1[1]) == 4, "Argument tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p2.shape[1] has an unsatisfied constraint: 4 == T.Cast(\"int32\", tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p2_shape[1])"
        if not T.isnullptr(tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p2_strides):
            assert 1 == T.Cast("int32", tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_p2_strides_1[1]), "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p2.strides: expected to be compact array"
            T.evaluate(0)
        assert T.uint64(0) == T.tvm_struct_get(p2, 0, 8, "uint64"), "Argument tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p2.byte_offset has an unsatisfied constraint: T.uint64(0) == T.tvm_struct_get(p2, 0, 8, \"uint64\")"
        assert T.tvm_struct_get(p2, 0, 10, "int32") == 1, "Argument tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p2.device_type has an unsatisfied constraint: 1 == T.tvm_struct_get(p2, 0, 10, \"int32\")"
        assert dev_id == T.tvm_struct_get(p2, 0, 9, "int32"), "Argument tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p2.device_id has an unsatisfied constraint: dev_id == T.tvm_struct_get(p2, 0, 9, \"int32\")"
        assert not T.isnullptr(p2_1), "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.p2 is expected to have non-NULL data pointer"
        assert T.tvm_struct_get(T_tanh, 0, 5, "uint8") == T.uint8(2) and T.tvm_struct_get(T_tanh, 0, 6, "uint8") == T.uint8(32) and T.tvm_struct_get(T_tanh, 0, 7, "uint16") == T.uint16(1), "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.T_tanh.dtype is expected to be float32"
        assert T.Cast("int32", tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_T_tanh_shape_1[0]) == 2, "Argument tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.T_tanh.shape[0] has an unsatisfied constraint: 2 == T.Cast(\"int32\", tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_T_tanh_shape[0])"
        assert T.Cast("int32", tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_T_tanh_shape_1[1]) == 4, "Argument tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.T_tanh.shape[1] has an unsatisfied constraint: 4 == T.Cast(\"int32\", tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_T_tanh_shape[1])"
        if not T.isnullptr(tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_T_tanh_strides):
            assert 1 == T.Cast("int32", tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_T_tanh_strides_1[1]) and 4 == T.Cast("int32", tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_T_tanh_strides_1[0]), "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.T_tanh.strides: expected to be compact array"
            T.evaluate(0)
        assert T.uint64(0) == T.tvm_struct_get(T_tanh, 0, 8, "uint64"), "Argument tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.T_tanh.byte_offset has an unsatisfied constraint: T.uint64(0) == T.tvm_struct_get(T_tanh, 0, 8, \"uint64\")"
        assert T.tvm_struct_get(T_tanh, 0, 10, "int32") == 1, "Argument tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.T_tanh.device_type has an unsatisfied constraint: 1 == T.tvm_struct_get(T_tanh, 0, 10, \"int32\")"
        assert dev_id == T.tvm_struct_get(T_tanh, 0, 9, "int32"), "Argument tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.T_tanh.device_id has an unsatisfied constraint: dev_id == T.tvm_struct_get(T_tanh, 0, 9, \"int32\")"
        assert not T.isnullptr(T_tanh_1), "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh.T_tanh is expected to have non-NULL data pointer"
        p0_2 = T.decl_buffer((2, 8), data=p0_1)
        p1_2 = T.decl_buffer((1, 8, 4), data=p1_1)
        p2_2 = T.decl_buffer((1, 4), data=p2_1)
        T_tanh_2 = T.decl_buffer((2, 4), data=T_tanh_1)
        with T.attr(0, "compute_scope", "tvmgen_default_fused_nn_contrib_dense_pack_add_tanh_compute_"):
            compute_global = T.allocate([2], "float32x4", "global")
            compute_global_1 = T.Buffer((2,), "float32x4", data=compute_global, align=32)
            compute_global_1[0] = T.Broadcast(T.float32(0.0), 4)
            compute_global_1[1] = T.Broadcast(T.float32(0.0), 4)
            for k_outer in range(8):
                cse_var_1: T.int32 = k_outer * 4
                p0_3 = T.Buffer((16,), data=p0_1)
                p1_3 = T.Buffer((32,), data=p1_1)
                compute_global_1[0] = T.call_llvm_pure_intrin("float32x4", "llvm.fmuladd", T.uint32(3), T.Broadcast(p0_3[k_outer], 4), p1_3[cse_var_1:cse_var_1 + 4], compute_global_1[0])
                compute_global_1[1] = T.call_llvm_pure_intrin("float32x4", "llvm.fmuladd", T.uint32(3), T.Broadcast(p0_3[k_outer + 8], 4), p1_3[cse_var_1:cse_var_1 + 4], compute_global_1[1])
            for ax0_inner_inner in range(2):
                T_tanh_3 = T.Buffer((8,), data=T_tanh_1)
                compute_global_2 = T.Buffer((2,), "float32x4", data=compute_global, align=32)
                p2_3 = T.Buffer((4,), data=p2_1)
                T_tanh_3[ax0_inner_inner * 4:ax0_inner_inner * 4 + 4] = T.Select(compute_global_2[ax0_inner_inner] + p2_3[0:4] >= T.Broadcast(T.float32(0.0), 4), (T.Broadcast(T.float32(1.0), 4) - T.call_llvm_pure_intrin("float32x4", "llvm.exp", T.uint32(1), T.Broadcast(T.float32(-2.0), 4) * (compute_global_2[ax0_inner_inner] + p2_3[0:4]))) / (T.Broadcast(T.float32(1.0), 4) + T.call_llvm_pure_intrin("float32x4", "llvm.exp", T.uint32(1), T.Broadcast(T.float32(-2.0), 4) * (compute_global_2[ax0_inner_inner] + p2_3[0:4]))), (T.call_llvm_pure_intrin("float32x4", "llvm.exp", T.uint32(1), T.Broadcast(T.float32(2.0), 4) * (compute_global_2[ax0_inner_inner] + p2_3[0:4])) - T.Broadcast(T.float32(1.0), 4)) / (T.call_llvm_pure_intrin("float32x4", "llvm.exp", T.uint32(1), T.Broadcast(T.float32(2.0), 4) * (compute_global_2[ax0_inner_inner] + p2_3[0:4])) + T.Broadcast(T.float32(1.0), 4)))
        return 0
