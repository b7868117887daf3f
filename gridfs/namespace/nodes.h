// Builds the Node that the namespace returns for a file or directory, from its document or without
// one.
//
// Functions without state, so thread-safe.
#pragma once

#include <string_view>

#include "gridfs/namespace/directory_store.h"
#include "gridfs/namespace/links.h"
#include "gridfs/namespace/path_namespace.h"

namespace gridmount::gridfs {

// Returns the Node::ino of a file: a hash of the bucket, the kind and the id, which is less than
// 2^63 and never 0 or 1.
uint64_t file_ino(std::string_view bucket, bson::ValueView id);

// Returns the st_mode of a file whose document has `mode`. If `mode` has no file type, or one that
// no file can have, the result has the type of a symbolic link if `is_symlink`, otherwise that of a
// regular file.
uint32_t mode_of_file(uint32_t mode, bool is_symlink);
// Returns st_blocks, in units of 512 bytes, computed from the chunks that the store has and the
// allocated ranges, or from the length if the number of chunks is unknown. The result is at least 1
// if the file is not empty. A symbolic link has no blocks.
int64_t blocks_of(const FilesDocument& file);
// Returns the node of the file, with nlink 1.
Node file_node(std::string_view bucket, const FilesDocument& file, const NamespaceOptions& options);
// Like the function above, from the bytes of a files document. If they are invalid, returns an
// empty file that nobody may write.
Node file_node(std::string_view bucket, bson::View document, const NamespaceOptions& options);
// Like the function above. If the file is open, includes its uncommitted changes. Sets nlink to the
// number of the file's names.
Node file_node(std::string_view bucket, FileTable& open_files, const Links& links,
               bson::View document, const NamespaceOptions& options);
// Returns the node of an explicit directory.
Node directory_node(std::string_view bucket, std::string_view path,
                    const DirectoryDocument& directory, const NamespaceOptions& options);
// Returns the node of an implied directory. `some_file` is the document of a file below it. The
// file's uploadDate is shown as the directory's times. If `some_file` has no such date, because it
// is empty or malformed, the times are 1970-01-01.
Node implied_directory_node(std::string_view bucket, std::string_view path, bson::View some_file,
                            const NamespaceOptions& options);

// Returns the fields of a new root directory.
PosixFields new_root_fields(const NamespaceOptions& options);
// Returns the fields to store when an implied directory becomes explicit. They are the ones that
// its node has shown.
PosixFields fields_of_implied_directory(const Node& directory);

}  // namespace gridmount::gridfs
