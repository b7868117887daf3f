#include "tests/engine/local/crash_image.h"

#include <algorithm>
#include <map>

namespace gridmount::local::testing {
namespace {

constexpr size_t kPageBytes = 4096;
constexpr size_t kSectorBytes = 512;
using Page = std::vector<uint8_t>;

void apply(std::vector<uint8_t>& contents, const Event& event) {
  if (event.kind == EventKind::kResize) {
    contents.resize(event.number);
  } else {
    contents.resize(std::max(contents.size(), event.number + event.bytes.size()));
    std::copy(event.bytes.begin(), event.bytes.end(),
              contents.begin() + static_cast<std::ptrdiff_t>(event.number));
  }
}

Page page_of(const std::vector<uint8_t>& contents, size_t page) {
  const size_t begin = std::min(contents.size(), page * kPageBytes);
  const size_t end = std::min(contents.size(), begin + kPageBytes);
  return {contents.begin() + static_cast<std::ptrdiff_t>(begin),
          contents.begin() + static_cast<std::ptrdiff_t>(end)};
}

// Sectors of `page` replaced by those of `other`.
void tear(Page& page, const Page& other, std::mt19937_64& random) {
  for (size_t begin = 0; begin < std::min(page.size(), other.size()); begin += kSectorBytes) {
    if (random() % 2 == 0) continue;
    const size_t end = std::min({begin + kSectorBytes, page.size(), other.size()});
    std::copy(other.begin() + static_cast<std::ptrdiff_t>(begin),
              other.begin() + static_cast<std::ptrdiff_t>(end),
              page.begin() + static_cast<std::ptrdiff_t>(begin));
  }
}

}  // namespace

std::vector<uint8_t> crash_image(const RecordedFile& file, size_t position,
                                 const std::vector<Event>& events, size_t cut,
                                 std::mt19937_64& random) {
  size_t synced = 0;  // events before this one are on the disk
  for (size_t i = 0; i < cut; ++i) {
    if (events[i].kind == EventKind::kSyncEnds && events[i].file == position) {
      synced = events[i].number;
    }
  }
  std::vector<uint8_t> image = file.initial;
  std::vector<uint8_t> current;
  std::map<size_t, std::vector<Page>> versions;
  for (size_t i = 0; i < cut; ++i) {
    const Event& event = events[i];
    const bool changes = event.kind == EventKind::kWrite || event.kind == EventKind::kResize;
    if (!changes || event.file != position) continue;
    if (i < synced) {
      apply(image, event);
      continue;
    }
    if (current.empty()) current = image;
    apply(current, event);
    if (event.kind == EventKind::kResize) continue;
    const size_t last = (event.number + event.bytes.size() - 1) / kPageBytes;
    for (size_t page = event.number / kPageBytes; page <= last; ++page) {
      versions[page].push_back(page_of(current, page));
    }
  }
  // Disks that wrote nearly everything, nearly nothing, and what is between.
  constexpr uint64_t kChances[] = {0, 2, 10, 50, 90, 98, 100};
  const uint64_t percent_old = kChances[random() % std::size(kChances)];
  const bool newest_only = random() % 3 == 0;
  for (auto& [page, candidates] : versions) {
    if (random() % 100 < percent_old) continue;
    const size_t pick = newest_only ? candidates.size() - 1 : random() % candidates.size();
    Page chosen = candidates[pick];
    if (random() % 8 == 0) tear(chosen, page_of(image, page), random);
    const size_t begin = page * kPageBytes;
    image.resize(std::max(image.size(), begin + chosen.size()));
    std::copy(chosen.begin(), chosen.end(), image.begin() + static_cast<std::ptrdiff_t>(begin));
  }
  if (!current.empty() && image.size() < current.size() && random() % 2 == 0) {
    image.resize(current.size());
  }
  return image;
}

}  // namespace gridmount::local::testing
