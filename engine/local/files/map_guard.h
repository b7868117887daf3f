// Keeps the process alive when mapped bytes of LMDB's files cannot be read, because the file was
// truncated by someone else, a damaged page points beyond the file's end, or the device fails. The
// kernel reports all of these by SIGBUS. Without the guard, one flipped bit in 1,000 ended the
// process.
//
// A page of data.mdb that cannot be read becomes a page of zeros, in this process only. No record's
// checksum matches zeros, and LMDB does not accept them as a page, so the reader gets an error. The
// guard remembers the fault. From then on nothing may be written, as zeros may have been read.
//
// LMDB's table of readers, data.mdb-lock, holds LMDB's mutexes, and every reader writes to it. The
// whole table becomes writable zeros: unlocked mutexes and no readers. So no thread hangs, but LMDB
// no longer knows which pages are being read. The call of LMDB that met the fault is ended
// (fault_scope.h), and from then on nothing may be read or written.
//
// Thread-safe. There is one handler of SIGBUS for the process, installed with the first guard
// (fault_scope.h). Faults elsewhere go to the handler that was there before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>

namespace gridmount::local {

class MapGuard {
 public:
  // How many guards a process can have at a time. Further ones guard nothing.
  static constexpr size_t kGuardsMax = 128;

  enum class Contents { kPages, kReaders };
  // Guards the mapping of the file, which LMDB must have made already. Guards nothing if the
  // mapping cannot be found. Does not open the file: closing it would release the locks that LMDB
  // has on it.
  MapGuard(const std::filesystem::path& file, Contents contents);
  ~MapGuard();
  MapGuard(const MapGuard&) = delete;
  MapGuard& operator=(const MapGuard&) = delete;

  // Returns where the file is mapped, or null if nothing is guarded.
  const uint8_t* map() const;
  // Returns the offset in the file of the first page that could not be read, if there was one.
  std::optional<uint64_t> unreadable() const;

  // For the handler of SIGBUS. If the address is in a guarded map, replaces the page, or the whole
  // table of readers, by zeros and returns what the map holds. Returns nothing if it replaced
  // nothing. A page after the last page of the newest snapshot is replaced only if `behind_end` is
  // set.
  static std::optional<Contents> map_zeros_at(void* where, bool behind_end);

 private:
  std::optional<size_t> slot_;
};

}  // namespace gridmount::local
