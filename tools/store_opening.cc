#include "tools/store_opening.h"

#include <thread>

namespace gridmount::tools {

namespace {

Result<std::unique_ptr<engine::Store>> open_recovering(const std::filesystem::path& folder,
                                                       const local::OpenOptions& options) {
  auto store = local::open(folder, options);
  bool needs_writing = !store && store.error().code() == ErrorCode::kStoreReadOnly;
  if (!needs_writing || !options.read_only) return store;
  local::OpenOptions for_writing = options;
  for_writing.read_only = false;
  auto recovered = local::open(folder, for_writing);
  // The first error says what is the matter; the second only that it cannot be mended here.
  return recovered ? std::move(recovered) : std::move(store);
}

}  // namespace

Result<std::unique_ptr<engine::Store>> open_store(const std::filesystem::path& folder,
                                                  const local::OpenOptions& options) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kPause{50};
  const Clock::time_point deadline = Clock::now() + kOwnerPatience;
  for (;;) {
    auto store = open_recovering(folder, options);
    bool is_locked = !store && store.error().code() == ErrorCode::kStoreLocked;
    if (!is_locked || Clock::now() >= deadline) return store;
    std::this_thread::sleep_for(kPause);
  }
}

std::filesystem::path socket_path(const std::filesystem::path& folder) {
  return std::filesystem::absolute(folder) / "gridmount.sock";
}

bool has_no_socket(const std::filesystem::path& folder) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(socket_path(folder), error);
  return std::filesystem::exists(status) && !std::filesystem::is_socket(status);
}

bool lacks_socket(const std::filesystem::path& folder) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(socket_path(folder), error);
  return status.type() == std::filesystem::file_type::not_found;
}

}  // namespace gridmount::tools
