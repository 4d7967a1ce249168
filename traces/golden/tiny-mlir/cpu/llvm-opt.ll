; ModuleID = '<stdin>'
source_filename = "LLVMDialectModule"
target datalayout = "e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128"
target triple = "x86_64-unknown-linux-gnu"

; Function Attrs: nofree norecurse nosync nounwind memory(argmem: readwrite)
define void @main(ptr readnone captures(none) %0, ptr readonly captures(none) %1, i64 %2, i64 %3, i64 %4, i64 %5, i64 %6, ptr readnone captures(none) %7, ptr readonly captures(none) %8, i64 %9, i64 %10, i64 %11, i64 %12, i64 %13, ptr readnone captures(none) %14, ptr captures(none) initializes((0, 32)) %15, i64 %16, i64 %17, i64 %18, i64 %19, i64 %20) local_unnamed_addr #0 {
.preheader9.preheader:
  tail call void @llvm.memset.p0.i64(ptr noundef nonnull align 4 dereferenceable(32) %15, i8 0, i64 32, i1 false)
  %gep.1 = getelementptr i8, ptr %8, i64 16
  %gep.2 = getelementptr i8, ptr %8, i64 32
  %gep.3 = getelementptr i8, ptr %8, i64 48
  %gep.4 = getelementptr i8, ptr %8, i64 64
  %gep.5 = getelementptr i8, ptr %8, i64 80
  %gep.6 = getelementptr i8, ptr %8, i64 96
  %gep.7 = getelementptr i8, ptr %8, i64 112
  %invariant.gep.1 = getelementptr i8, ptr %8, i64 4
  %gep.1.1 = getelementptr i8, ptr %8, i64 20
  %gep.2.1 = getelementptr i8, ptr %8, i64 36
  %gep.3.1 = getelementptr i8, ptr %8, i64 52
  %gep.4.1 = getelementptr i8, ptr %8, i64 68
  %gep.5.1 = getelementptr i8, ptr %8, i64 84
  %gep.6.1 = getelementptr i8, ptr %8, i64 100
  %gep.7.1 = getelementptr i8, ptr %8, i64 116
  %invariant.gep.2 = getelementptr i8, ptr %8, i64 8
  %gep.1.2 = getelementptr i8, ptr %8, i64 24
  %gep.2.2 = getelementptr i8, ptr %8, i64 40
  %gep.3.2 = getelementptr i8, ptr %8, i64 56
  %gep.4.2 = getelementptr i8, ptr %8, i64 72
  %gep.5.2 = getelementptr i8, ptr %8, i64 88
  %gep.6.2 = getelementptr i8, ptr %8, i64 104
  %gep.7.2 = getelementptr i8, ptr %8, i64 120
  %invariant.gep.3 = getelementptr i8, ptr %8, i64 12
  %gep.1.3 = getelementptr i8, ptr %8, i64 28
  %gep.2.3 = getelementptr i8, ptr %8, i64 44
  %gep.3.3 = getelementptr i8, ptr %8, i64 60
  %gep.4.3 = getelementptr i8, ptr %8, i64 76
  %gep.5.3 = getelementptr i8, ptr %8, i64 92
  %gep.6.3 = getelementptr i8, ptr %8, i64 108
  %gep.7.3 = getelementptr i8, ptr %8, i64 124
  br label %.preheader9

.preheader9:                                      ; preds = %.preheader9.preheader, %.preheader9
  %21 = phi i64 [ %162, %.preheader9 ], [ 0, %.preheader9.preheader ]
  %.idx3 = shl nuw nsw i64 %21, 5
  %22 = getelementptr inbounds nuw i8, ptr %1, i64 %.idx3
  %.idx5 = shl nuw nsw i64 %21, 4
  %23 = getelementptr inbounds nuw i8, ptr %15, i64 %.idx5
  %.promoted = load float, ptr %23, align 4
  %24 = load float, ptr %22, align 4
  %25 = load float, ptr %8, align 4
  %26 = fmul float %24, %25
  %27 = fadd float %.promoted, %26
  store float %27, ptr %23, align 4
  %28 = getelementptr inbounds nuw i8, ptr %22, i64 4
  %29 = load float, ptr %28, align 4
  %30 = load float, ptr %gep.1, align 4
  %31 = fmul float %29, %30
  %32 = fadd float %27, %31
  store float %32, ptr %23, align 4
  %33 = getelementptr inbounds nuw i8, ptr %22, i64 8
  %34 = load float, ptr %33, align 4
  %35 = load float, ptr %gep.2, align 4
  %36 = fmul float %34, %35
  %37 = fadd float %32, %36
  store float %37, ptr %23, align 4
  %38 = getelementptr inbounds nuw i8, ptr %22, i64 12
  %39 = load float, ptr %38, align 4
  %40 = load float, ptr %gep.3, align 4
  %41 = fmul float %39, %40
  %42 = fadd float %37, %41
  store float %42, ptr %23, align 4
  %43 = getelementptr inbounds nuw i8, ptr %22, i64 16
  %44 = load float, ptr %43, align 4
  %45 = load float, ptr %gep.4, align 4
  %46 = fmul float %44, %45
  %47 = fadd float %42, %46
  store float %47, ptr %23, align 4
  %48 = getelementptr inbounds nuw i8, ptr %22, i64 20
  %49 = load float, ptr %48, align 4
  %50 = load float, ptr %gep.5, align 4
  %51 = fmul float %49, %50
  %52 = fadd float %47, %51
  store float %52, ptr %23, align 4
  %53 = getelementptr inbounds nuw i8, ptr %22, i64 24
  %54 = load float, ptr %53, align 4
  %55 = load float, ptr %gep.6, align 4
  %56 = fmul float %54, %55
  %57 = fadd float %52, %56
  store float %57, ptr %23, align 4
  %58 = getelementptr inbounds nuw i8, ptr %22, i64 28
  %59 = load float, ptr %58, align 4
  %60 = load float, ptr %gep.7, align 4
  %61 = fmul float %59, %60
  %62 = fadd float %57, %61
  store float %62, ptr %23, align 4
  %63 = getelementptr inbounds nuw i8, ptr %23, i64 4
  %.promoted.1 = load float, ptr %63, align 4
  %64 = load float, ptr %22, align 4
  %65 = load float, ptr %invariant.gep.1, align 4
  %66 = fmul float %64, %65
  %67 = fadd float %.promoted.1, %66
  store float %67, ptr %63, align 4
  %68 = load float, ptr %28, align 4
  %69 = load float, ptr %gep.1.1, align 4
  %70 = fmul float %68, %69
  %71 = fadd float %67, %70
  store float %71, ptr %63, align 4
  %72 = load float, ptr %33, align 4
  %73 = load float, ptr %gep.2.1, align 4
  %74 = fmul float %72, %73
  %75 = fadd float %71, %74
  store float %75, ptr %63, align 4
  %76 = load float, ptr %38, align 4
  %77 = load float, ptr %gep.3.1, align 4
  %78 = fmul float %76, %77
  %79 = fadd float %75, %78
  store float %79, ptr %63, align 4
  %80 = load float, ptr %43, align 4
  %81 = load float, ptr %gep.4.1, align 4
  %82 = fmul float %80, %81
  %83 = fadd float %79, %82
  store float %83, ptr %63, align 4
  %84 = load float, ptr %48, align 4
  %85 = load float, ptr %gep.5.1, align 4
  %86 = fmul float %84, %85
  %87 = fadd float %83, %86
  store float %87, ptr %63, align 4
  %88 = load float, ptr %53, align 4
  %89 = load float, ptr %gep.6.1, align 4
  %90 = fmul float %88, %89
  %91 = fadd float %87, %90
  store float %91, ptr %63, align 4
  %92 = load float, ptr %58, align 4
  %93 = load float, ptr %gep.7.1, align 4
  %94 = fmul float %92, %93
  %95 = fadd float %91, %94
  store float %95, ptr %63, align 4
  %96 = getelementptr inbounds nuw i8, ptr %23, i64 8
  %.promoted.2 = load float, ptr %96, align 4
  %97 = load float, ptr %22, align 4
  %98 = load float, ptr %invariant.gep.2, align 4
  %99 = fmul float %97, %98
  %100 = fadd float %.promoted.2, %99
  store float %100, ptr %96, align 4
  %101 = load float, ptr %28, align 4
  %102 = load float, ptr %gep.1.2, align 4
  %103 = fmul float %101, %102
  %104 = fadd float %100, %103
  store float %104, ptr %96, align 4
  %105 = load float, ptr %33, align 4
  %106 = load float, ptr %gep.2.2, align 4
  %107 = fmul float %105, %106
  %108 = fadd float %104, %107
  store float %108, ptr %96, align 4
  %109 = load float, ptr %38, align 4
  %110 = load float, ptr %gep.3.2, align 4
  %111 = fmul float %109, %110
  %112 = fadd float %108, %111
  store float %112, ptr %96, align 4
  %113 = load float, ptr %43, align 4
  %114 = load float, ptr %gep.4.2, align 4
  %115 = fmul float %113, %114
  %116 = fadd float %112, %115
  store float %116, ptr %96, align 4
  %117 = load float, ptr %48, align 4
  %118 = load float, ptr %gep.5.2, align 4
  %119 = fmul float %117, %118
  %120 = fadd float %116, %119
  store float %120, ptr %96, align 4
  %121 = load float, ptr %53, align 4
  %122 = load float, ptr %gep.6.2, align 4
  %123 = fmul float %121, %122
  %124 = fadd float %120, %123
  store float %124, ptr %96, align 4
  %125 = load float, ptr %58, align 4
  %126 = load float, ptr %gep.7.2, align 4
  %127 = fmul float %125, %126
  %128 = fadd float %124, %127
  store float %128, ptr %96, align 4
  %129 = getelementptr inbounds nuw i8, ptr %23, i64 12
  %.promoted.3 = load float, ptr %129, align 4
  %130 = load float, ptr %22, align 4
  %131 = load float, ptr %invariant.gep.3, align 4
  %132 = fmul float %130, %131
  %133 = fadd float %.promoted.3, %132
  store float %133, ptr %129, align 4
  %134 = load float, ptr %28, align 4
  %135 = load float, ptr %gep.1.3, align 4
  %136 = fmul float %134, %135
  %137 = fadd float %133, %136
  store float %137, ptr %129, align 4
  %138 = load float, ptr %33, align 4
  %139 = load float, ptr %gep.2.3, align 4
  %140 = fmul float %138, %139
  %141 = fadd float %137, %140
  store float %141, ptr %129, align 4
  %142 = load float, ptr %38, align 4
  %143 = load float, ptr %gep.3.3, align 4
  %144 = fmul float %142, %143
  %145 = fadd float %141, %144
  store float %145, ptr %129, align 4
  %146 = load float, ptr %43, align 4
  %147 = load float, ptr %gep.4.3, align 4
  %148 = fmul float %146, %147
  %149 = fadd float %145, %148
  store float %149, ptr %129, align 4
  %150 = load float, ptr %48, align 4
  %151 = load float, ptr %gep.5.3, align 4
  %152 = fmul float %150, %151
  %153 = fadd float %149, %152
  store float %153, ptr %129, align 4
  %154 = load float, ptr %53, align 4
  %155 = load float, ptr %gep.6.3, align 4
  %156 = fmul float %154, %155
  %157 = fadd float %153, %156
  store float %157, ptr %129, align 4
  %158 = load float, ptr %58, align 4
  %159 = load float, ptr %gep.7.3, align 4
  %160 = fmul float %158, %159
  %161 = fadd float %157, %160
  store float %161, ptr %129, align 4
  %162 = add nuw nsw i64 %21, 1
  %exitcond.not = icmp eq i64 %162, 2
  br i1 %exitcond.not, label %.preheader.preheader, label %.preheader9

.preheader.preheader:                             ; preds = %.preheader9
  %163 = load float, ptr %15, align 4
  %164 = fadd float %163, 0xBFE21F45E0000000
  %165 = tail call float @llvm.tanh.f32(float %164)
  store float %165, ptr %15, align 4
  %166 = getelementptr inbounds nuw i8, ptr %15, i64 4
  %167 = load float, ptr %166, align 4
  %168 = fadd float %167, 0x3FD7E11C40000000
  %169 = tail call float @llvm.tanh.f32(float %168)
  store float %169, ptr %166, align 4
  %170 = getelementptr inbounds nuw i8, ptr %15, i64 8
  %171 = load float, ptr %170, align 4
  %172 = fadd float %171, 0xBFEC8B39C0000000
  %173 = tail call float @llvm.tanh.f32(float %172)
  store float %173, ptr %170, align 4
  %174 = getelementptr inbounds nuw i8, ptr %15, i64 12
  %175 = load float, ptr %174, align 4
  %176 = fadd float %175, 0xBFF8254E20000000
  %177 = tail call float @llvm.tanh.f32(float %176)
  store float %177, ptr %174, align 4
  %178 = getelementptr inbounds nuw i8, ptr %15, i64 16
  %179 = load float, ptr %178, align 4
  %180 = fadd float %179, 0xBFE21F45E0000000
  %181 = tail call float @llvm.tanh.f32(float %180)
  store float %181, ptr %178, align 4
  %182 = getelementptr inbounds nuw i8, ptr %15, i64 20
  %183 = load float, ptr %182, align 4
  %184 = fadd float %183, 0x3FD7E11C40000000
  %185 = tail call float @llvm.tanh.f32(float %184)
  store float %185, ptr %182, align 4
  %186 = getelementptr inbounds nuw i8, ptr %15, i64 24
  %187 = load float, ptr %186, align 4
  %188 = fadd float %187, 0xBFEC8B39C0000000
  %189 = tail call float @llvm.tanh.f32(float %188)
  store float %189, ptr %186, align 4
  %190 = getelementptr inbounds nuw i8, ptr %15, i64 28
  %191 = load float, ptr %190, align 4
  %192 = fadd float %191, 0xBFF8254E20000000
  %193 = tail call float @llvm.tanh.f32(float %192)
  store float %193, ptr %190, align 4
  ret void
}

; Function Attrs: nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none)
define void @_mlir_ciface_main(ptr readonly captures(none) %0, ptr readonly captures(none) %1, ptr readonly captures(none) %2) local_unnamed_addr #1 {
  %.elt1 = getelementptr inbounds nuw i8, ptr %0, i64 8
  %.unpack2 = load ptr, ptr %.elt1, align 8
  %.elt16 = getelementptr inbounds nuw i8, ptr %1, i64 8
  %.unpack17 = load ptr, ptr %.elt16, align 8
  %.elt31 = getelementptr inbounds nuw i8, ptr %2, i64 8
  %.unpack32 = load ptr, ptr %.elt31, align 8
  tail call void @main(ptr poison, ptr %.unpack2, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, ptr poison, ptr %.unpack17, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison, ptr poison, ptr %.unpack32, i64 poison, i64 poison, i64 poison, i64 poison, i64 poison)
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.tanh.f32(float) #2

; Function Attrs: nocallback nofree nounwind willreturn memory(argmem: write)
declare void @llvm.memset.p0.i64(ptr writeonly captures(none), i8, i64, i1 immarg) #3

attributes #0 = { nofree norecurse nosync nounwind memory(argmem: readwrite) "target-cpu"="x86-64-v3" }
attributes #1 = { nofree norecurse nosync nounwind memory(readwrite, inaccessiblemem: none, target_mem0: none, target_mem1: none) "target-cpu"="x86-64-v3" }
attributes #2 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) "target-cpu"="x86-64-v3" }
attributes #3 = { nocallback nofree nounwind willreturn memory(argmem: write) }

!llvm.module.flags = !{!0}

!0 = !{i32 2, !"Debug Info Version", i32 3}
