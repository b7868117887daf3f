#include "command_line/store_opening.h"

#include <thread>

#include "engine/wire/server/socket_name.h"

namespace gridmount::command_line {

namespace {

using StoreResult = Result<std::unique_ptr<engine::Store>>;

constexpr std::chrono::milliseconds kPause{25};

StoreResult open_recovering(const std::filesystem::path& folder,
                            const local::OpenOptions& options) {
  auto store = local::open(folder, options);
  const bool needs_writing = !store && store.error().code() == ErrorCode::kStoreReadOnly;
  if (!needs_writing || !options.read_only) return store;
  local::OpenOptions for_writing = options;
  for_writing.read_only = false;
  for_writing.beside_owner = false;
  auto recovered = local::open(folder, for_writing);
  // The first error names the cause. The second error only says why the store cannot be recovered.
  if (!recovered) return store;
  recovered->reset();
  return local::open(folder, options);
}

}  // namespace

StoreResult open_store(const std::filesystem::path& folder, const local::OpenOptions& options,
                       const std::function<bool()>& is_in_use) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + kOwnerPatience;
  for (;;) {
    auto store = open_recovering(folder, options);
    const bool is_locked = !store && store.error().code() == ErrorCode::kStoreLocked;
    if (!is_locked || Clock::now() >= deadline || (is_in_use && is_in_use())) return store;
    std::this_thread::sleep_for(kPause);
  }
}

std::filesystem::path socket_path(const std::filesystem::path& folder) {
  return std::filesystem::absolute(folder) / wire::kSocketName;
}

bool is_socket_path_taken(const std::filesystem::path& folder) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(socket_path(folder), error);
  return std::filesystem::exists(status) && !std::filesystem::is_socket(status);
}

bool is_socket_missing(const std::filesystem::path& folder) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(socket_path(folder), error);
  return status.type() == std::filesystem::file_type::not_found;
}

}  // namespace gridmount::command_line
