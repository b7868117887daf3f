#include "fuse/tree/file_names.h"

#include <utility>

namespace gridmount::fuse {

void FileNames::set(uint64_t parent, std::string_view name, uint64_t ino) {
  ShownName shown{parent, std::string(name)};
  const auto known = inos_.find(shown);
  if (known != inos_.end() && known->second == ino) return;
  if (known != inos_.end()) take(shown);
  put(shown, ino);
}

void FileNames::move(const ShownName& from, const ShownName& to) {
  if (from == to) return;
  const uint64_t ino = take(from);
  take(to);
  if (ino != 0) put(to, ino);
}

void FileNames::exchange(const ShownName& one, const ShownName& other) {
  if (one == other) return;
  const uint64_t first = take(one);
  const uint64_t second = take(other);
  if (first != 0) put(other, first);
  if (second != 0) put(one, second);
}

void FileNames::forget(uint64_t ino) {
  const auto begin = names_.lower_bound({ino, nullptr});
  auto name = begin;
  for (; name != names_.end() && name->first == ino; ++name) inos_.erase(inos_.find(*name->second));
  names_.erase(begin, name);
}

std::vector<ShownName> FileNames::of(uint64_t ino) const {
  std::vector<ShownName> found;
  for (auto name = names_.lower_bound({ino, nullptr}); name != names_.end() && name->first == ino;
       ++name) {
    found.push_back(*name->second);
  }
  return found;
}

uint64_t FileNames::take(const ShownName& name) {
  const auto known = inos_.find(name);
  if (known == inos_.end()) return 0;
  const uint64_t ino = known->second;
  names_.erase({ino, &known->first});
  inos_.erase(known);
  return ino;
}

void FileNames::put(const ShownName& name, uint64_t ino) {
  const auto added = inos_.emplace(name, ino).first;
  names_.emplace(ino, &added->first);
}

}  // namespace gridmount::fuse
