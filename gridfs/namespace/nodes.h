// Nodes: what the namespace tells of a file or folder, from its document or without one.
//
// Thread-safety: pure functions.
#pragma once

#include <string_view>

#include "gridfs/namespace/folders.h"
#include "gridfs/namespace/links.h"
#include "gridfs/namespace/volume.h"

namespace gridmount::gridfs {

// Node::ino: 63 bits of a hash of bucket, kind and id (or path), never 0 or 1.
uint64_t file_number(std::string_view bucket, bson::ValueView id);

// Of what a document says: whoever has written a mode without a type, or with one that no file has,
// has meant a file.
uint32_t mode_of_file(uint32_t mode, bool is_symlink);
// st_blocks: the chunks that are there; by the length where it is not known which are.
int64_t blocks_of(const FilesDocument& file);
// With one name.
Node file_node(std::string_view bucket, const FilesDocument& file, const VolumeOptions& options);
// Also of a document that is no valid files document: an empty file nobody may write.
Node file_node(std::string_view bucket, bson::View document, const VolumeOptions& options);
// The same, but what an open file has not committed yet counts, and all its names.
Node file_node(std::string_view bucket, FileTable& open_files, const Links& links,
               bson::View document, const VolumeOptions& options);
Node folder_node(std::string_view bucket, std::string_view path, const FolderDocument& folder,
                 const VolumeOptions& options);
// `some_file` is one below it: its uploadDate stands for the folder's times.
Node implied_folder_node(std::string_view bucket, std::string_view path, bson::View some_file,
                         const VolumeOptions& options);

// What the root gets when it is made.
PosixFields default_folder_posix(const VolumeOptions& options);
// What an implied folder gets that becomes explicit: what it has been shown with.
PosixFields posix_of_implied(const Node& folder);

}  // namespace gridmount::gridfs
