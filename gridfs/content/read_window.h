// Detects that a file is read in order, and decides how far to fetch it ahead over a network, where
// each request waits for a round trip.
//
// Fetching ahead begins at the second read in order, because many programs read only the beginning
// of a file. The window grows each time that the program reaches the bytes that were fetched after
// the last growth. So the bytes that are fetched in vain are no more than a small multiple of the
// bytes that are read. If the program was so slow that fetched bytes have left the cache, the
// window shrinks, and its later growth is limited.
//
// Not thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <utility>

namespace gridmount::gridfs {

class ReadWindow {
 public:
  struct State {
    int64_t window_bytes_max = 0;
    // False if the last requests took long, so that more of them would only queue up.
    bool may_grow = true;
    // True if the bytes that are read now are in the cache or are being fetched.
    bool is_there = false;
  };
  struct Advice {
    // The bytes to fetch, if begin < end, in requests of `request_bytes`.
    int64_t begin = 0;
    int64_t end = 0;
    int64_t request_bytes = 0;
    // A program that reads in order, as this one does, needs no bytes before this offset any more.
    int64_t done_to = 0;
  };

  // Must be called for each read of [offset, end). The kernel sends several reads at a time, which
  // arrive in any order. Several programs, or threads, may read a file in order at several offsets.
  Advice record_read(int64_t offset, int64_t end, int64_t length, const State& state) {
    Place& place = place_of(offset);
    place.used = ++clock_;
    if (end > place.end) {
      place.end = end;
      ++place.reads;
    }
    Advice advice;
    if (place.reads < kReadsInOrder) return advice;
    advice.done_to = place.end - kDisorderBytes;
    if (!state.is_there && place.window != 0) {
      place.window_max = std::max(place.window / kGrowth, kFirstWindowBytes);
      place.window = place.window_max;
      place.fetched_to = place.end;
      place.grows_at = place.end;
    }
    place.fetched_to = std::max(place.fetched_to, place.end);
    if (place.window == 0) {
      place.window = kFirstWindowBytes;
      place.grows_at = place.fetched_to;
    } else if (place.end > place.grows_at && state.may_grow) {
      place.window *= kGrowth;
      place.grows_at = place.fetched_to;
    }
    place.window = std::min({place.window, place.window_max, state.window_bytes_max});
    advice.request_bytes =
        std::clamp(place.window / kRequestsPerWindow, kRequestBytesMin, kRequestBytesMax);
    const int64_t to = std::min(place.end + place.window, length);
    // Fetches in large steps, so that most reads fetch nothing.
    if (to - place.fetched_to < advice.request_bytes && to < length) return advice;
    advice.begin = std::exchange(place.fetched_to, std::max(place.fetched_to, to));
    advice.end = to;
    return advice;
  }

  static constexpr int64_t kFirstWindowBytes = 2 * 1024 * 1024;
  static constexpr int64_t kRequestBytesMin = 512 * 1024;
  static constexpr int64_t kRequestBytesMax = 4 * 1024 * 1024;
  static constexpr int64_t kRequestsPerWindow = 8;

 private:
  static constexpr int64_t kGrowth = 4;
  static constexpr int64_t kDisorderBytes = 1024 * 1024;
  static constexpr int kReadsInOrder = 2;
  static constexpr size_t kPlacesMax = 4;

  struct Place {
    uint64_t used = 0;  // 0: never
    int reads = 0;
    int64_t end = 0;
    int64_t window = 0;
    int64_t window_max = std::numeric_limits<int64_t>::max();
    int64_t fetched_to = 0;
    int64_t grows_at = 0;
  };

  Place& place_of(int64_t offset) {
    Place* oldest = &places_.front();
    for (Place& place : places_) {
      if (place.used != 0 && offset >= place.end - kDisorderBytes &&
          offset <= place.end + kDisorderBytes) {
        return place;
      }
      if (place.used < oldest->used) oldest = &place;
    }
    *oldest = Place();
    oldest->end = offset;
    return *oldest;
  }

  std::array<Place, kPlacesMax> places_;
  uint64_t clock_ = 0;
};

}  // namespace gridmount::gridfs
