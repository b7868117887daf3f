#include "tests/fuse/crash/model.h"

#include <fcntl.h>

#include <algorithm>

namespace gridmount::fuse::testing {
namespace {

constexpr uint32_t kPermissionBits = 07777;

void move(std::map<std::string, Model::Name>& names, const std::string& from,
          const std::string& to) {
  std::map<std::string, Model::Name> moved;
  for (auto& [path, name] : names) {
    const bool concerned = path == from || path.starts_with(from + "/");
    if (!concerned && path == to) continue;  // replaced
    moved[concerned ? to + path.substr(from.size()) : path] = std::move(name);
  }
  names = std::move(moved);
}

std::string overwritten(std::string content, size_t offset, const std::string& bytes) {
  content.resize(std::max(content.size(), offset + bytes.size()));
  content.replace(offset, bytes.size(), bytes);
  return content;
}

}  // namespace

bool Model::is_open(int file) const {
  const auto is_handle = [&](const std::optional<Handle>& each) {
    return each && each->file == file;
  };
  return std::any_of(handles_.begin(), handles_.end(), is_handle) ||
         std::find(maps_.begin(), maps_.end(), std::optional(file)) != maps_.end();
}

bool Model::commits(const Call& call) const {
  switch (call.kind) {
    case CallKind::kOpen:
    case CallKind::kResize:
    case CallKind::kPunch:
    case CallKind::kZero:
    case CallKind::kAllocate:
    case CallKind::kSyncRange:
    case CallKind::kMap:
    case CallKind::kStore:
    case CallKind::kUnmap:
    case CallKind::kSyncFileSystem:
    case CallKind::kPause:
      return false;
    case CallKind::kWrite:
      return handle(call.slot)->syncs;
    case CallKind::kResizePath:
      return !is_open(names_.at(call.path).file);
    default:
      return true;
  }
}

bool Model::is_durable(const Call& call) const {
  switch (call.kind) {
    case CallKind::kSync:
    case CallKind::kSyncData:
    case CallKind::kSyncMap:
    case CallKind::kSyncFolder:
      return true;
    case CallKind::kWrite:
      return handle(call.slot)->syncs;
    default:
      return false;
  }
}

void Model::write(File& file, uint64_t offset, const std::string& bytes) {
  file.content = overwritten(std::move(file.content), offset, bytes);
  file.handed.may_have(file.content, offset, bytes.size());
  file.committed.back() = file.handed;
  file.modified_ns.reset();
}

void Model::resize(File& file, size_t size, bool is_committed) {
  file.content.resize(size);
  file.handed.resize(size);
  if (is_committed) file.committed.clear();
  file.committed.push_back(file.handed);
  file.modified_ns.reset();
}

// All content has been written back and committed.
void Model::settle(File& file, std::optional<int64_t> modified_ns) {
  file.handed.set(file.content);
  file.committed = {file.handed};
  file.modified_ns = modified_ns;
}

void Model::apply(const Call& call, std::optional<int64_t> modified_ns) {
  const auto slot = static_cast<size_t>(call.slot);
  const auto map = static_cast<size_t>(call.map);
  switch (call.kind) {
    case CallKind::kMakeFolder:
      names_[call.path] = {.kind = FoundKind::kFolder, .mode = call.mode};
      return;
    case CallKind::kRemoveFolder:
    case CallKind::kUnlink:
      names_.erase(call.path);
      return;
    case CallKind::kRename:
      return move(names_, call.path, call.target);
    case CallKind::kExchange:
      move(names_, call.path, "between");
      move(names_, call.target, call.path);
      return move(names_, "between", call.target);
    case CallKind::kLink:
      names_[call.target] = names_.at(call.path);
      return;
    case CallKind::kMakeSymlink:
      names_[call.path] = {.kind = FoundKind::kSymlink, .target = call.target};
      return;
    case CallKind::kChangeMode: {
      Name& name = names_.at(call.path);
      (name.kind == FoundKind::kFile ? files_.at(name.file).mode : name.mode) = call.mode;
      return;
    }
    case CallKind::kSetXattr:
    case CallKind::kRemoveXattr: {
      Name& name = names_.at(call.path);
      (name.kind == FoundKind::kFile ? files_.at(name.file).xattr : name.xattr) = call.bytes;
      return;
    }
    case CallKind::kSetTime:
      files_.at(names_.at(call.path).file).modified_ns = modified_ns;
      return;
    case CallKind::kResizePath: {
      const int file = names_.at(call.path).file;
      return resize(files_.at(file), call.size, !is_open(file));
    }
    case CallKind::kCreate:
      names_[call.path] = {.kind = FoundKind::kFile, .file = next_file_};
      files_[next_file_] = {.mode = call.mode};
      handles_[slot] = Handle{next_file_++, (call.flags & (O_SYNC | O_DSYNC)) != 0};
      return;
    case CallKind::kOpen:
      handles_[slot] = Handle{names_.at(call.path).file, (call.flags & (O_SYNC | O_DSYNC)) != 0};
      if ((call.flags & O_TRUNC) != 0) resize(file_of(call), 0, false);
      return;
    case CallKind::kClose:
      settle(file_of(call), modified_ns);
      handles_[slot].reset();
      return;
    case CallKind::kWrite: {
      File& file = file_of(call);
      write(file, call.offset, call.bytes);
      if (!handles_[slot]->syncs) return;
      file.handed.has(file.content, call.offset, call.bytes.size(), true);
      file.committed = {file.handed};
      file.modified_ns = modified_ns;
      return;
    }
    case CallKind::kResize:
    case CallKind::kAllocate:
      return resize(file_of(call), call.size, false);
    case CallKind::kPunch:
    case CallKind::kZero: {
      File& file = file_of(call);
      apply_partly(call);
      file.content.replace(call.offset, call.size, std::string(call.size, '\0'));
      file.handed.has(file.content, call.offset, call.size, false);
      file.committed.push_back(file.handed);
      return;
    }
    case CallKind::kSync:
    case CallKind::kSyncData:
      return settle(file_of(call), modified_ns);
    case CallKind::kMap:
      maps_[map] = handle(call.slot)->file;
      return;
    case CallKind::kStore:
      return write(files_.at(*maps_[map]), call.offset, call.bytes);
    case CallKind::kSyncMap: {
      File& file = files_.at(*maps_[map]);
      file.handed.has(file.content, call.offset, call.size, false);
      file.committed = {file.handed};
      return;
    }
    case CallKind::kUnmap:
      maps_[map].reset();
      return;
    case CallKind::kSyncRange:
    case CallKind::kSyncFolder:
    case CallKind::kSyncFileSystem:
    case CallKind::kPause:
      return;
  }
}

void Model::apply_partly(const Call& call) {
  switch (call.kind) {
    case CallKind::kWrite:
      return write(file_of(call), call.offset, call.bytes);
    case CallKind::kPunch:
    case CallKind::kZero: {
      File& file = file_of(call);
      std::string zeroed = file.content;
      zeroed.replace(call.offset, call.size, std::string(call.size, '\0'));
      file.handed.may_have(zeroed, call.offset, call.size);
      file.committed.back() = file.handed;
      file.modified_ns.reset();
      return;
    }
    case CallKind::kResizePath:
    case CallKind::kSetTime:
      files_.at(names_.at(call.path).file).modified_ns.reset();
      return;
    default:
      return;
  }
}

std::string Model::problem_with_file(const std::string& path, const FoundName& found,
                                     const File& file, size_t chunk_bytes) const {
  if (found.mode != file.mode) return "'" + path + "' has another mode";
  if (found.xattr != file.xattr) return "'" + path + "' has another attribute";
  const auto allows = [&](const PossibleContent& content) {
    return content.allows(found.content, chunk_bytes);
  };
  if (std::none_of(file.committed.begin(), file.committed.end(), allows)) {
    return "'" + path + "' has content of " + std::to_string(found.content.size()) +
           " bytes that it never had (the newest has " + std::to_string(file.content.size()) + ")";
  }
  if (file.modified_ns && *file.modified_ns != found.modified_ns) {
    return "'" + path + "' has the time " + std::to_string(found.modified_ns) + " and not " +
           std::to_string(*file.modified_ns);
  }
  return "";
}

std::string Model::problem_with(const FoundTree& found, size_t chunk_bytes) const {
  for (const auto& [path, name] : found) {
    if (!names_.contains(path)) return "'" + path + "' should not be there";
  }
  std::map<int, uint64_t> numbers;  // of files
  std::map<int, uint32_t> links;
  for (const auto& [path, name] : names_) {
    if (name.kind == FoundKind::kFile) ++links[name.file];
  }
  for (const auto& [path, name] : names_) {
    const auto at = found.find(path);
    if (at == found.end()) return "'" + path + "' is missing";
    const FoundName& other = at->second;
    if (other.kind != name.kind) return "'" + path + "' is of another kind";
    if (name.kind == FoundKind::kSymlink) {
      if (other.content != name.target) return "'" + path + "' leads elsewhere";
      continue;
    }
    if (name.kind == FoundKind::kFolder) {
      if (other.mode != (name.mode & kPermissionBits)) return "'" + path + "' has another mode";
      if (other.xattr != name.xattr) return "'" + path + "' has another attribute";
      continue;
    }
    if (numbers.try_emplace(name.file, other.number).first->second != other.number) {
      return "'" + path + "' is not the file that it is by another name";
    }
    if (other.links != links.at(name.file)) return "'" + path + "' has another number of names";
    std::string problem = problem_with_file(path, other, files_.at(name.file), chunk_bytes);
    if (!problem.empty()) return problem;
  }
  for (const auto& [one, number] : numbers) {
    for (const auto& [two, same] : numbers) {
      if (one != two && number == same) return "two files have become one";
    }
  }
  return "";
}

}  // namespace gridmount::fuse::testing
