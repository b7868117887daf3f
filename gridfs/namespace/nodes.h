// Builds the Node that the namespace returns for a file or directory, from its document or without
// one.
//
// Pure functions, so thread-safe.
#pragma once

#include <string_view>

#include "gridfs/namespace/directory_store.h"
#include "gridfs/namespace/links.h"
#include "gridfs/namespace/path_namespace.h"

namespace gridmount::gridfs {

// Returns the Node::ino: 63 bits of a hash of bucket, kind and id (or path), never 0 or 1.
uint64_t file_ino(std::string_view bucket, bson::ValueView id);

// Returns the mode to show for the mode in a document. A mode without a type, or with a type that
// is not a file's, becomes a regular file's.
uint32_t mode_of_file(uint32_t mode, bool is_symlink);
// Returns st_blocks, computed from the chunks that the store has, or from the length if their
// number is unknown. A symbolic link has no blocks.
int64_t blocks_of(const FilesDocument& file);
// Returns the node of a file with one name.
Node file_node(std::string_view bucket, const FilesDocument& file, const NamespaceOptions& options);
// Returns the same for any document. An invalid files document becomes an empty file that nobody
// may write.
Node file_node(std::string_view bucket, bson::View document, const NamespaceOptions& options);
// Returns the same as the function before, but includes uncommitted changes of an open file, and
// counts all names.
Node file_node(std::string_view bucket, FileTable& open_files, const Links& links,
               bson::View document, const NamespaceOptions& options);
Node directory_node(std::string_view bucket, std::string_view path,
                    const DirectoryDocument& directory, const NamespaceOptions& options);
// Returns the node of an implied directory. `some_file` is a file below it, whose uploadDate is
// shown as the directory's times.
Node implied_directory_node(std::string_view bucket, std::string_view path, bson::View some_file,
                            const NamespaceOptions& options);

// Returns the fields that the root gets when it is created.
PosixFields default_directory_posix(const NamespaceOptions& options);
// Returns the fields that an implied directory gets when it becomes explicit: those it was shown
// with.
PosixFields posix_of_implied(const Node& directory);

}  // namespace gridmount::gridfs
