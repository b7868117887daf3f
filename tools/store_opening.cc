#include "tools/store_opening.h"

#include <thread>

namespace gridmount::tools {

Result<std::unique_ptr<engine::Store>> open_store(const std::filesystem::path& folder,
                                                  const local::OpenOptions& options) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kPause{50};
  const Clock::time_point deadline = Clock::now() + kOwnerPatience;
  for (;;) {
    auto store = local::open(folder, options);
    bool is_locked = !store && store.error().code() == ErrorCode::kStoreLocked;
    if (!is_locked || Clock::now() >= deadline) return store;
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace gridmount::tools
