// Switches for the crash tests. Programs cannot reach them: local::open() passes none.
#pragma once

#include <string>

namespace gridmount::local {

struct TestOptions {
  // Stands for the running kernel's boot id if not empty: another one at the next open makes a
  // power loss of what is between.
  std::string boot_id;
  // False shows what happens without invariant D2: the snapshot of the newest checkpoint is not
  // kept from being overwritten.
  bool pin = true;
  // False shows what happens without D5: the meta pages found in data.mdb are used after a power
  // loss.
  bool restore = true;
};

}  // namespace gridmount::local
