// What volatile does not order: a read of device memory may give the value before another block's last write, until the reader
// has seen a fence behind that write, or has read it. The settings say whether such reads do, and which of them.
#pragma once
#include "checker.h"

namespace cuemu {

extern bool gives_stale;  // in a kernel, with a setting that says so

void begin_launch_stale();
void begin_block_stale();
void note_fence();        // of the block at work
void note_turn(const void* address);  // an atomic operation on it: whoever makes one sees what was fenced before
void before_volatile_write(const void* address, std::size_t bytes);
void before_volatile_read(void* address, std::size_t bytes, const void* call_site);
void put_back();          // what a stale read has hidden, before the next access

}  // namespace cuemu
