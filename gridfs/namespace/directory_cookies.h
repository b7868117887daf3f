// The cookies of a directory stream: each cookie leads back to the position after a name that the
// stream has returned.
//
// A cookie consists of the number of an interval and the hash of a name. An interval has a start
// position and up to kIntervalNames fingerprints. A fingerprint is a part of a name's hash. The
// fingerprints belong to the names that the stream has returned after the start position, in the
// order of the listing.
//
// seek() goes to the start of the cookie's interval and reads names until it finds the cookie's
// name. So it reads only the names of one interval, and names that were created between them. If
// the cookie's name was removed, seek() goes to the position after the nearest earlier name of the
// interval that still exists. This works for the last kMaxIntervals intervals. For the cookies of
// the last kRecentPositions names, seek() reads nothing. For an older cookie, or a cookie of
// another stream over the same directory, seek() searches for the hash in the cookie
// (name_hash_index.h).
//
// Not thread-safe. Belongs to one stream.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "gridfs/namespace/name_hash_index.h"

namespace gridmount::gridfs {

// `Position` is a position between two names, copied by value. Position{} is the beginning.
// Positions compare with == and <, in the order of the listing.
template <typename Position>
class DirectoryCookies {
 public:
  static constexpr size_t kIntervalNames = 64;  // in one interval
  static constexpr size_t kMaxIntervals = 1 << 14;
  static constexpr size_t kRecentPositions = 1024;

  using Passed = HashedName<Position>;

  // Must be called when the stream returns its next name. `hash` is the hash of the name, and
  // `after` is the position after the name. Returns the cookie of the name, which is not 0 and has
  // 62 bits.
  uint64_t issue(uint64_t hash, const Position& after) {
    enter(fingerprint_of(hash));
    here_ = after;
    is_behind_passed_ = true;
    const uint64_t cookie = (current_ % kNumbers) << kHashBits | (hash & kHashMask) | 1;
    recent_.push_back({cookie, here_, current_, passed_});
    if (recent_.size() > kRecentPositions) recent_.pop_front();
    return cookie;
  }

  // Goes to the position after the name that was returned with the cookie. If the name was removed,
  // the new position may be earlier, at worst the beginning, because an entry that is shown twice
  // does less harm than an entry that is never shown. `go_to(position)` moves the stream, and
  // `pass()` reads the next name and returns Result<optional<Passed>>. `version()` returns
  // Result<optional<uint64_t>>: the Snapshot::version() of the store's newest contents. Fails as
  // `pass` and `version` do.
  template <typename GoTo, typename Pass, typename Version>
  Status seek(uint64_t cookie, const GoTo& go_to, const Pass& pass, const Version& version) {
    if (cookie == 0) {
      begin(go_to);
      return {};
    }
    const auto known = std::find_if(recent_.rbegin(), recent_.rend(),
                                    [&](const Recent& recent) { return recent.cookie == cookie; });
    if (known != recent_.rend()) {
      here_ = known->position;
      current_ = known->interval;
      passed_ = known->passed;
      is_behind_passed_ = true;
      go_to(here_);
      return {};
    }
    const uint64_t number = first_ + ((cookie >> kHashBits) - first_) % kNumbers;
    const Interval* const interval = find(number);
    if (interval != nullptr) {
      const std::optional<size_t> index = interval->find(fingerprint_of(cookie), 0);
      if (index) return seek_in(number, *index, go_to, pass);
    }
    return seek_by_hash(cookie, go_to, pass, version);
  }

 private:
  static constexpr unsigned kHashBits = NameHashIndex<Position>::kHashBits;
  static constexpr unsigned kFingerprintBits = 32;
  static constexpr uint64_t kHashMask = (uint64_t{1} << kHashBits) - 1;
  static constexpr uint64_t kNumbers = uint64_t{1} << (62 - kHashBits);
  static_assert(kMaxIntervals < kNumbers);
  // No interval has this number.
  static constexpr uint64_t kNone = UINT64_MAX;

  struct Interval {
    Position start{};
    std::vector<uint32_t> fingerprints;  // at least one
    // The stream has last left this interval after its first `left_at` names, for the interval
    // `next`.
    size_t left_at = SIZE_MAX;
    uint64_t next = 0;

    std::optional<size_t> find(uint32_t fingerprint, size_t from) const {
      const auto found = std::find(fingerprints.begin() + static_cast<ptrdiff_t>(from),
                                   fingerprints.end(), fingerprint);
      if (found == fingerprints.end()) return std::nullopt;
      return static_cast<size_t>(found - fingerprints.begin());
    }
  };
  struct Recent {
    uint64_t cookie = 0;
    Position position{};
    uint64_t interval = 0;
    size_t passed = 0;
  };

  // Returns true if issue() could have returned the cookie.
  static bool may_be_issued(uint64_t cookie) { return (cookie & 1) != 0 && cookie >> 62 == 0; }
  // The lowest bit is not part of a fingerprint, because it is set in all cookies.
  static uint32_t fingerprint_of(uint64_t hash) {
    return static_cast<uint32_t>((hash & kHashMask) >> (kHashBits - kFingerprintBits));
  }
  Interval* find(uint64_t number) {
    const uint64_t index = number - first_;
    return index < intervals_.size() ? &intervals_[static_cast<size_t>(index)] : nullptr;
  }

  // Passes over the name after here_: finds the name in an interval, or adds it to an interval.
  void enter(uint32_t fingerprint) {
    Interval* const interval = find(current_);
    if (interval == nullptr) return add(fingerprint);
    if (const std::optional<size_t> known = interval->find(fingerprint, passed_)) {
      passed_ = *known + 1;
      return;
    }
    if (interval->left_at == passed_) {
      const Interval* const next = find(interval->next);
      if (next != nullptr && next->start == here_ && next->fingerprints.front() == fingerprint) {
        current_ = interval->next;
        passed_ = 1;
        return;
      }
    }
    const size_t size = interval->fingerprints.size();
    if (passed_ == size && size < kIntervalNames && is_behind_passed_) {
      interval->fingerprints.push_back(fingerprint);
      ++passed_;
      return;
    }
    interval->left_at = passed_;
    interval->next = first_ + intervals_.size();
    add(fingerprint);
  }
  void add(uint32_t fingerprint) {
    intervals_.push_back({here_, {fingerprint}});
    current_ = first_ + intervals_.size() - 1;
    passed_ = 1;
    if (intervals_.size() <= kMaxIntervals) return;
    intervals_.pop_front();
    ++first_;
  }

  template <typename GoTo>
  void begin(const GoTo& go_to) {
    here_ = Position{};
    current_ = 0;
    passed_ = 0;
    is_behind_passed_ = true;
    go_to(here_);
  }

  // Goes to the position after the name at `index` of the interval, or after the last name before
  // this one that still exists.
  template <typename GoTo, typename Pass>
  Status seek_in(uint64_t number, size_t index, const GoTo& go_to, const Pass& pass) {
    const Interval& interval = *find(number);
    const Interval* const next =
        interval.left_at == interval.fingerprints.size() ? find(interval.next) : nullptr;
    here_ = interval.start;
    current_ = number;
    passed_ = index + 1;
    is_behind_passed_ = false;
    go_to(here_);
    while (!is_behind_passed_) {
      const Result<std::optional<Passed>> passed = pass();
      if (!passed) return fail(passed.error());
      if (!*passed) break;
      const std::optional<size_t> known = interval.find(fingerprint_of((*passed)->hash), 0);
      if (known && *known > index) break;
      if (known) here_ = (*passed)->after;
      is_behind_passed_ = known == index;
      if (next != nullptr && !((*passed)->after < next->start)) break;
    }
    go_to(here_);
    return {};
  }

  template <typename GoTo, typename Pass, typename Version>
  Status seek_by_hash(uint64_t cookie, const GoTo& go_to, const Pass& pass,
                      const Version& version) {
    std::optional<Position> found;
    if (may_be_issued(cookie)) {
      GM_ASSIGN(const std::optional<uint64_t> newest, version());
      // The search compares hashes as issue() puts them into cookies.
      GM_ASSIGN(found,
                name_hashes_.find(cookie, newest, go_to, [&]() -> Result<std::optional<Passed>> {
                  GM_ASSIGN(std::optional<Passed> passed, pass());
                  if (passed) passed->hash |= 1;
                  return passed;
                }));
    }
    begin(go_to);
    if (!found) return {};
    here_ = *std::move(found);
    current_ = kNone;
    go_to(here_);
    return {};
  }

  std::deque<Interval> intervals_;
  uint64_t first_ = 0;  // the number of intervals_.front()
  // The present position: after the first `passed_` names of the interval current_.
  Position here_{};
  uint64_t current_ = 0;
  size_t passed_ = 0;
  bool is_behind_passed_ = true;  // here_ is right after the last of these names
  std::deque<Recent> recent_;
  NameHashIndex<Position> name_hashes_;
};

}  // namespace gridmount::gridfs
