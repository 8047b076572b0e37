// Faults and endless loops inside a kernel end the launch, not the process.
#pragma once

namespace cuemu {

double processor_seconds();  // of this process
void arm_faults(double seconds);
void disarm_faults();

}  // namespace cuemu
