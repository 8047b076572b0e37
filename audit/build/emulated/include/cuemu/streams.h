// Streams and events. All work is done in the order of the calls, so that they only have to exist; times are not measured.
#pragma once
#include "cuemu/errors.h"

struct CUstream_st {
  int number;
};
struct CUevent_st {
  int number;
};
typedef CUstream_st* cudaStream_t;
typedef CUevent_st* cudaEvent_t;

enum { cudaStreamDefault = 0, cudaStreamNonBlocking = 1, cudaStreamLegacyValue = 1 };
enum { cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2 };

inline cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = new CUstream_st{1};
  return cuemu::answer();
}
inline cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) { return cudaStreamCreate(stream); }
inline cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned, int) { return cudaStreamCreate(stream); }
inline cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cuemu::answer();
}
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cuemu::answer(); }
inline cudaError_t cudaStreamQuery(cudaStream_t) { return cuemu::answer(); }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t, cudaEvent_t, unsigned = 0) { return cuemu::answer(); }
inline cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -1;
  return cuemu::answer();
}

inline cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st{0};
  return cuemu::answer();
}
inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) { return cudaEventCreate(event); }
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t = nullptr) { return cuemu::answer(); }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cuemu::answer(); }
inline cudaError_t cudaEventQuery(cudaEvent_t) { return cuemu::answer(); }
inline cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cuemu::answer();
}
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
  *milliseconds = 0.0f;
  return cuemu::answer();
}

inline cudaError_t cudaDeviceSynchronize() { return cuemu::answer(); }
inline cudaError_t cudaThreadSynchronize() { return cuemu::answer(); }
inline cudaError_t cudaDeviceReset() { return cuemu::answer(); }
