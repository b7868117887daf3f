#include "tests/fuse/crash/possible_content.h"

#include <algorithm>

namespace gridmount::fuse::testing {
namespace {

constexpr size_t kPageBytes = 4096;

std::string page_of(const std::string& content, size_t page) {
  const size_t begin = std::min(content.size(), page * kPageBytes);
  return content.substr(begin, kPageBytes);
}

uint8_t byte_of(const std::string& candidate, size_t i) {
  return i < candidate.size() ? static_cast<uint8_t>(candidate[i]) : 0;
}

bool is_like(const std::string& candidate, size_t from, std::string_view part) {
  for (size_t i = 0; i < part.size(); ++i) {
    if (byte_of(candidate, from + i) != static_cast<uint8_t>(part[i])) return false;
  }
  return true;
}

// The kernel lets a page be written to while it is copied.
bool is_between(const std::string& one, const std::string& next, size_t from,
                std::string_view part) {
  for (size_t i = 0; i < part.size(); ++i) {
    const auto byte = static_cast<uint8_t>(part[i]);
    if (byte_of(one, from + i) != byte && byte_of(next, from + i) != byte) return false;
  }
  return true;
}

}  // namespace

void PossibleContent::set(const std::string& content) {
  pages_.clear();
  for (size_t page = 0; page * kPageBytes < content.size(); ++page) {
    pages_.push_back({page_of(content, page)});
  }
  lengths_ = {content.size()};
}

PossibleContent::Candidates& PossibleContent::candidates_of(size_t page) {
  if (pages_.size() <= page) pages_.resize(page + 1);
  Candidates& candidates = pages_[page];
  if (candidates.empty()) candidates.emplace_back();
  return candidates;
}

void PossibleContent::may_have(const std::string& content, size_t offset, size_t size) {
  if (size == 0) return;
  for (size_t page = offset / kPageBytes; page * kPageBytes < offset + size; ++page) {
    candidates_of(page).push_back(page_of(content, page));
  }
  if (content.size() > *lengths_.begin()) lengths_.insert(content.size());
}

void PossibleContent::has(const std::string& content, size_t offset, size_t size, bool grows) {
  if (size == 0) return;
  size_t end = 0;
  for (size_t page = offset / kPageBytes; page * kPageBytes < offset + size; ++page) {
    candidates_of(page) = {page_of(content, page)};
    end = std::min(content.size(), (page + 1) * kPageBytes);
  }
  if (!grows) return;
  if (*lengths_.begin() < end) lengths_.insert(end);
  lengths_.erase(lengths_.begin(), lengths_.lower_bound(end));
}

void PossibleContent::resize(size_t size) {
  const size_t pages = (size + kPageBytes - 1) / kPageBytes;
  if (pages_.size() > pages) pages_.resize(pages);
  if (size % kPageBytes != 0 && pages_.size() == pages) {
    for (std::string& candidate : pages_.back()) {
      candidate.resize(std::min(candidate.size(), size % kPageBytes));
    }
  }
  lengths_ = {size};
}

bool PossibleContent::allows(const Candidates& candidates, size_t from, std::string_view part) {
  if (candidates.empty()) return is_like({}, from, part);
  for (size_t i = 0; i < candidates.size(); ++i) {
    if (is_like(candidates[i], from, part)) return true;
    if (i > 0 && is_between(candidates[i - 1], candidates[i], from, part)) return true;
  }
  return false;
}

bool PossibleContent::allows(std::string_view content, size_t chunk_bytes) const {
  const size_t size = content.size();
  const bool ends_a_part = size % kPageBytes == 0 || size % chunk_bytes == 0;
  const bool may_end_here = lengths_.contains(size) ||
                            (ends_a_part && size > *lengths_.begin() && size < *lengths_.rbegin());
  if (!may_end_here) return false;
  for (size_t at = 0; at < size;) {
    const size_t page = at / kPageBytes;
    const size_t end = std::min((page + 1) * kPageBytes, (at / chunk_bytes + 1) * chunk_bytes);
    const std::string_view part = content.substr(at, end - at);
    const bool is_known = page < pages_.size();
    if (!allows(is_known ? pages_[page] : Candidates(), at % kPageBytes, part)) return false;
    at = end;
  }
  return true;
}

}  // namespace gridmount::fuse::testing
