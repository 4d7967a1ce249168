	.file	"LLVMDialectModule"
	.section	.rodata.cst4,"aM",@progbits,4
	.p2align	2, 0x0                          # -- Begin function main
.LCPI0_0:
	.long	0xbf10fa2f                      # float -0.566317499
.LCPI0_1:
	.long	0x3ebf08e2                      # float 0.373114645
.LCPI0_2:
	.long	0xbf6459ce                      # float -0.89199531
.LCPI0_3:
	.long	0xbfc12a71                      # float -1.50910771
	.text
	.globl	main
	.p2align	4
	.type	main,@function
main:                                   # @main
# %bb.0:                                # %.preheader9.preheader
	pushq	%rbx
	movq	88(%rsp), %rbx
	movq	32(%rsp), %rax
	vxorps	%xmm0, %xmm0, %xmm0
	vmovups	%ymm0, (%rbx)
	xorl	%ecx, %ecx
	.p2align	4
.LBB0_1:                                # %.preheader9
                                        # =>This Inner Loop Header: Depth=1
	vmovss	(%rsi,%rcx,2), %xmm0            # xmm0 = mem[0],zero,zero,zero
	vmulss	(%rax), %xmm0, %xmm0
	vaddss	(%rbx,%rcx), %xmm0, %xmm0
	vmovss	%xmm0, (%rbx,%rcx)
	vmovss	4(%rsi,%rcx,2), %xmm1           # xmm1 = mem[0],zero,zero,zero
	vmulss	16(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, (%rbx,%rcx)
	vmovss	8(%rsi,%rcx,2), %xmm1           # xmm1 = mem[0],zero,zero,zero
	vmulss	32(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, (%rbx,%rcx)
	vmovss	12(%rsi,%rcx,2), %xmm1          # xmm1 = mem[0],zero,zero,zero
	vmulss	48(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, (%rbx,%rcx)
	vmovss	16(%rsi,%rcx,2), %xmm1          # xmm1 = mem[0],zero,zero,zero
	vmulss	64(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, (%rbx,%rcx)
	vmovss	20(%rsi,%rcx,2), %xmm1          # xmm1 = mem[0],zero,zero,zero
	vmulss	80(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, (%rbx,%rcx)
	vmovss	24(%rsi,%rcx,2), %xmm1          # xmm1 = mem[0],zero,zero,zero
	vmulss	96(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, (%rbx,%rcx)
	vmovss	28(%rsi,%rcx,2), %xmm1          # xmm1 = mem[0],zero,zero,zero
	vmulss	112(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, (%rbx,%rcx)
	vmovss	(%rsi,%rcx,2), %xmm0            # xmm0 = mem[0],zero,zero,zero
	vmulss	4(%rax), %xmm0, %xmm0
	vaddss	4(%rbx,%rcx), %xmm0, %xmm0
	vmovss	%xmm0, 4(%rbx,%rcx)
	vmovss	4(%rsi,%rcx,2), %xmm1           # xmm1 = mem[0],zero,zero,zero
	vmulss	20(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, 4(%rbx,%rcx)
	vmovss	8(%rsi,%rcx,2), %xmm1           # xmm1 = mem[0],zero,zero,zero
	vmulss	36(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, 4(%rbx,%rcx)
	vmovss	12(%rsi,%rcx,2), %xmm1          # xmm1 = mem[0],zero,zero,zero
	vmulss	52(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, 4(%rbx,%rcx)
	vmovss	16(%rsi,%rcx,2), %xmm1          # xmm1 = mem[0],zero,zero,zero
	vmulss	68(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, 4(%rbx,%rcx)
	vmovss	20(%rsi,%rcx,2), %xmm1          # xmm1 = mem[0],zero,zero,zero
	vmulss	84(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, 4(%rbx,%rcx)
	vmovss	24(%rsi,%rcx,2), %xmm1          # xmm1 = mem[0],zero,zero,zero
	vmulss	100(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, 4(%rbx,%rcx)
	vmovss	28(%rsi,%rcx,2), %xmm1          # xmm1 = mem[0],zero,zero,zero
	vmulss	116(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, 4(%rbx,%rcx)
	vmovss	(%rsi,%rcx,2), %xmm0            # xmm0 = mem[0],zero,zero,zero
	vmulss	8(%rax), %xmm0, %xmm0
	vaddss	8(%rbx,%rcx), %xmm0, %xmm0
	vmovss	%xmm0, 8(%rbx,%rcx)
	vmovss	4(%rsi,%rcx,2), %xmm1           # xmm1 = mem[0],zero,zero,zero
	vmulss	24(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, 8(%rbx,%rcx)
	vmovss	8(%rsi,%rcx,2), %xmm1           # xmm1 = mem[0],zero,zero,zero
	vmulss	40(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, 8(%rbx,%rcx)
	vmovss	12(%rsi,%rcx,2), %xmm1          # xmm1 = mem[0],zero,zero,zero
	vmulss	56(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, 8(%rbx,%rcx)
	vmovss	16(%rsi,%rcx,2), %xmm1          # xmm1 = mem[0],zero,zero,zero
	vmulss	72(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, 8(%rbx,%rcx)
	vmovss	20(%rsi,%rcx,2), %xmm1          # xmm1 = mem[0],zero,zero,zero
	vmulss	88(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, 8(%rbx,%rcx)
	vmovss	24(%rsi,%rcx,2), %xmm1          # xmm1 = mem[0],zero,zero,zero
	vmulss	104(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, 8(%rbx,%rcx)
	vmovss	28(%rsi,%rcx,2), %xmm1          # xmm1 = mem[0],zero,zero,zero
	vmulss	120(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, 8(%rbx,%rcx)
	vmovss	(%rsi,%rcx,2), %xmm0            # xmm0 = mem[0],zero,zero,zero
	vmulss	12(%rax), %xmm0, %xmm0
	vaddss	12(%rbx,%rcx), %xmm0, %xmm0
	vmovss	%xmm0, 12(%rbx,%rcx)
	vmovss	4(%rsi,%rcx,2), %xmm1           # xmm1 = mem[0],zero,zero,zero
	vmulss	28(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, 12(%rbx,%rcx)
	vmovss	8(%rsi,%rcx,2), %xmm1           # xmm1 = mem[0],zero,zero,zero
	vmulss	44(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, 12(%rbx,%rcx)
	vmovss	12(%rsi,%rcx,2), %xmm1          # xmm1 = mem[0],zero,zero,zero
	vmulss	60(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, 12(%rbx,%rcx)
	vmovss	16(%rsi,%rcx,2), %xmm1          # xmm1 = mem[0],zero,zero,zero
	vmulss	76(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, 12(%rbx,%rcx)
	vmovss	20(%rsi,%rcx,2), %xmm1          # xmm1 = mem[0],zero,zero,zero
	vmulss	92(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, 12(%rbx,%rcx)
	vmovss	24(%rsi,%rcx,2), %xmm1          # xmm1 = mem[0],zero,zero,zero
	vmulss	108(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, 12(%rbx,%rcx)
	vmovss	28(%rsi,%rcx,2), %xmm1          # xmm1 = mem[0],zero,zero,zero
	vmulss	124(%rax), %xmm1, %xmm1
	vaddss	%xmm1, %xmm0, %xmm0
	vmovss	%xmm0, 12(%rbx,%rcx)
	addq	$16, %rcx
	cmpq	$32, %rcx
	jne	.LBB0_1
# %bb.2:                                # %.preheader.preheader
	vmovss	.LCPI0_0(%rip), %xmm0           # xmm0 = [-5.66317499E-1,0.0E+0,0.0E+0,0.0E+0]
	vaddss	(%rbx), %xmm0, %xmm0
	vzeroupper
	callq	tanhf@PLT
	vmovss	%xmm0, (%rbx)
	vmovss	.LCPI0_1(%rip), %xmm0           # xmm0 = [3.73114645E-1,0.0E+0,0.0E+0,0.0E+0]
	vaddss	4(%rbx), %xmm0, %xmm0
	callq	tanhf@PLT
	vmovss	%xmm0, 4(%rbx)
	vmovss	.LCPI0_2(%rip), %xmm0           # xmm0 = [-8.9199531E-1,0.0E+0,0.0E+0,0.0E+0]
	vaddss	8(%rbx), %xmm0, %xmm0
	callq	tanhf@PLT
	vmovss	%xmm0, 8(%rbx)
	vmovss	.LCPI0_3(%rip), %xmm0           # xmm0 = [-1.50910771E+0,0.0E+0,0.0E+0,0.0E+0]
	vaddss	12(%rbx), %xmm0, %xmm0
	callq	tanhf@PLT
	vmovss	%xmm0, 12(%rbx)
	vmovss	.LCPI0_0(%rip), %xmm0           # xmm0 = [-5.66317499E-1,0.0E+0,0.0E+0,0.0E+0]
	vaddss	16(%rbx), %xmm0, %xmm0
	callq	tanhf@PLT
	vmovss	%xmm0, 16(%rbx)
	vmovss	.LCPI0_1(%rip), %xmm0           # xmm0 = [3.73114645E-1,0.0E+0,0.0E+0,0.0E+0]
	vaddss	20(%rbx), %xmm0, %xmm0
	callq	tanhf@PLT
	vmovss	%xmm0, 20(%rbx)
	vmovss	.LCPI0_2(%rip), %xmm0           # xmm0 = [-8.9199531E-1,0.0E+0,0.0E+0,0.0E+0]
	vaddss	24(%rbx), %xmm0, %xmm0
	callq	tanhf@PLT
	vmovss	%xmm0, 24(%rbx)
	vmovss	.LCPI0_3(%rip), %xmm0           # xmm0 = [-1.50910771E+0,0.0E+0,0.0E+0,0.0E+0]
	vaddss	28(%rbx), %xmm0, %xmm0
	callq	tanhf@PLT
	vmovss	%xmm0, 28(%rbx)
	popq	%rbx
	retq
.Lfunc_end0:
	.size	main, .Lfunc_end0-main
                                        # -- End function
	.globl	_mlir_ciface_main               # -- Begin function _mlir_ciface_main
	.p2align	4
	.type	_mlir_ciface_main,@function
_mlir_ciface_main:                      # @_mlir_ciface_main
# %bb.0:
	subq	$120, %rsp
	movq	8(%rdi), %rax
	movq	8(%rsi), %rcx
	movq	8(%rdx), %rdx
	movq	%rdx, 72(%rsp)
	movq	%rcx, 16(%rsp)
	movq	%rax, %rsi
	callq	main@PLT
	addq	$120, %rsp
	retq
.Lfunc_end1:
	.size	_mlir_ciface_main, .Lfunc_end1-_mlir_ciface_main
                                        # -- End function
	.section	".note.GNU-stack","",@progbits
