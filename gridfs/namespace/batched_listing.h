// A DirectoryStream that reads in batches and returns the entries one by one, with cookies from
// directory_cookies.h. The derived class decides what is read and in which order.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "engine/store.h"
#include "gridfs/namespace/directory_cookies.h"
#include "gridfs/namespace/path_namespace.h"

namespace gridmount::gridfs {

// directory_cookies.h says what `Position` must provide.
template <typename Position>
class BatchedListing : public DirectoryStream {
 public:
  Result<std::optional<DirectoryEntry>> next() final {
    GM_ASSIGN(std::optional<Listed> listed, take());
    if (!listed) return std::optional<DirectoryEntry>();
    listed->entry.cookie = cookies_.issue(listed->hash, listed->after);
    return std::optional(std::move(listed->entry));
  }

  Status seek(uint64_t cookie) final {
    using Passed = HashedName<Position>;
    const auto pass = [this]() -> Result<std::optional<Passed>> {
      GM_ASSIGN(std::optional<Listed> listed, take());
      if (!listed) return std::optional<Passed>();
      return std::optional(Passed{listed->hash, std::move(listed->after)});
    };
    names_only_ = true;
    const Status moved = cookies_.seek(
        cookie, [this](const Position& position) { go_to(position); }, pass,
        [this] { return version(); });
    names_only_ = false;
    batch_.clear();
    return moved;
  }

 protected:
  // `store` is the store that read_batch() reads. It must outlive the listing.
  explicit BatchedListing(engine::Store& store) : store_(store) {}

  // Must read the next entries after read_to(), and call add() or pass() for each of them, in
  // order. Must call end() if no entry follows. If a call adds no entry, next() calls the function
  // again.
  virtual Status read_batch() = 0;
  // Called when a seek moves the listing to a position, before the next batch is read from there.
  // One seek can move the listing several times.
  virtual void begin_batches() {}

  // The position after everything that has been read.
  const Position& read_to() const { return read_to_; }
  size_t batch_size() const { return batch_.size(); }
  // Returns true during a seek, which drops the entries that it reads. The nodes for add() may then
  // be empty.
  bool names_only() const { return names_only_; }
  // Appends an entry to the batch. `hash` is the hash of the entry's name for its cookie, and
  // `after` is the position after the entry.
  void add(std::string name, Node node, uint64_t hash, Position after) {
    read_to_ = after;
    batch_.push_back({{std::move(name), std::move(node), 0}, hash, std::move(after)});
  }
  // Skips an entry that the listing leaves out.
  void pass(Position after) { read_to_ = std::move(after); }
  // Records that the listing has no more entries.
  void end() { ended_ = true; }

 private:
  struct Listed {
    DirectoryEntry entry;  // without its cookie
    uint64_t hash = 0;
    Position after;
  };

  // Returns the next entry, or nothing at the end.
  Result<std::optional<Listed>> take() {
    while (batch_.empty()) {
      if (ended_) return std::optional<Listed>();
      GM_TRY(read_batch());
    }
    std::optional<Listed> listed = std::move(batch_.front());
    batch_.pop_front();
    return listed;
  }
  Result<std::optional<uint64_t>> version() const {
    GM_ASSIGN(const std::unique_ptr<engine::Snapshot> snapshot, store_.snapshot());
    return snapshot->version();
  }
  void go_to(const Position& position) {
    batch_.clear();
    begin_batches();
    read_to_ = position;
    ended_ = false;
  }

  engine::Store& store_;
  Position read_to_{};
  bool ended_ = false;
  bool names_only_ = false;
  std::deque<Listed> batch_;  // read, not returned yet
  DirectoryCookies<Position> cookies_;
};

}  // namespace gridmount::gridfs
