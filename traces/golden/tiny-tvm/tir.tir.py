# from tvm.script import ir as I
# from tvm.script import tir as T

@I.ir_module
class Module:
    @T.prim_func
    def tvmgen_default_fused_nn_contrib_dense_pack_add_tanh(p0: T.Buffer((2, 8), "float32"), p1: T.Buffer((1, 8, 4), "float32"), p2: T.Buffer((1, 4), "float32"), T_tanh: T.Buffer((2, 4), "float32")):
        T.func_attr({"from_legacy_te_schedule": T.bool(True), "hash": "a981879ffde0f545", "target": T.target({"host": {"keys": ["cpu"], "kind": "llvm", "mcpu": "x86-64-v3", "num-cores": 1, "tag": ""}, "keys": ["cpu"], "kind": "llvm", "mcpu": "x86-64-v3", "num-cores": 1, "tag": ""}), "tir.noalias": T.bool(True)})
        compute_global = T.allocate([2], "float32x4", "global")
        compute_global_1 = T.Buffer((2,), "float32x4", data=compute_global, align=32)
        compute_global_1[0] = T.Broadcast(T.float32(0.0), 4)
        compute_global_1[1] = T.Broadcast(T.float32(0.0), 4)
        for k_outer in range(8):
            cse_var_1: T.int32 = k_outer * 4
            p0_1 = T.Buffer((16,), data=p0.data)
            p1_1 = T.Buffer((32,), data=p1.data)
            compute_global_1[0] = compute_global_1[0] + T.Broadcast(p0_1[k_outer], 4) * p1_1[cse_var_1:cse_var_1 + 4]
            compute_global_1[1] = compute_global_1[1] + T.Broadcast(p0_1[k_outer + 8], 4) * p1_1[cse_var_1:cse_var_1 + 4]
        for ax0_inner_inner in range(2):
            T_tanh_1 = T.Buffer((8,), data=T_tanh.data)
            compute_global_2 = T.Buffer((2,), "float32x4", data=compute_global, align=32)
            p2_1 = T.Buffer((4,), data=p2.data)
            T_tanh_1[ax0_inner_inner * 4:ax0_inner_inner * 4 + 4] = T.tanh(compute_global_2[ax0_inner_inner] + p2_1[0:4])
