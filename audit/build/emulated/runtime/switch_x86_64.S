// void cuemu_switch(void** save, void* resume): leaves the running stack, goes on with another (System V x86-64).
#if defined(__x86_64__)
    .text
    .globl cuemu_switch
    .hidden cuemu_switch
    .type cuemu_switch, @function
cuemu_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size cuemu_switch, . - cuemu_switch
#endif
    .section .note.GNU-stack, "", %progbits
