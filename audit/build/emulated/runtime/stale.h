// What volatile does not order: a read of device memory may give the value before another block's last write, until the reader
// has seen a fence behind that write, or has read it. The settings say whether such reads do, and which of them.
#pragma once
#include "checker.h"

namespace cuemu {

extern bool gives_stale;  // in a kernel, with a setting that says so
extern bool hides;        // the same, or with the setting that hides what races

void begin_launch_stale();
void begin_block_stale();
void note_fence();        // of the block at work
void note_turn(const void* address);  // an atomic operation on it: whoever makes one sees what was fenced before
void before_volatile_write(const void* address, std::size_t bytes);
void before_volatile_read(void* address, std::size_t bytes, const void* call_site);
void hide(void* address, const void* behind, std::size_t bytes);  // at most 16: what is read there next is what lies behind
void put_back();          // what is hidden, before the next access

}  // namespace cuemu
