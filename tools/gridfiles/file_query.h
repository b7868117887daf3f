// Which files of the bucket a command works on.
//
// Not thread-safe: gridfiles runs a command on one thread.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/document.h"
#include "engine/store.h"
#include "gridfs/bucket/bucket.h"
#include "tools/gridfiles/command.h"

namespace gridmount::tools {

// Returns the filter for the files documents whose filename begins with these bytes.
bson::Document names_beginning_with(const std::string& prefix);
// Returns the same for the command's first argument, or the filter for all files if there is none.
bson::Document names_of_argument(const CommandContext& context);

// Calls `visit` with each files document that matches `filter` and --filter, in the order of --sort
// or else of `sort`. The documents come from one snapshot, and are read as they are visited.
// Returns the first error, which is kInterrupted after a signal.
Status for_each_file(const CommandContext& context, bson::View filter, bson::View sort,
                     const std::function<Status(bson::View)>& visit);

// Returns the newest file of the name, as open_download_stream_by_name() chooses it, or nothing.
Result<std::optional<bson::Document>> newest_file(const CommandContext& context,
                                                  const std::string& name);
// Returns mongofiles' error for names that no file has: kFileNotFound.
tl::unexpected<Error> files_not_found(std::span<const std::string> names);
// Returns the newest file of each of the command's arguments, which may repeat. Fails as
// files_not_found() says.
Result<std::vector<bson::Document>> files_of_arguments(const CommandContext& context);

// Returns the _ids of all files that have the name. They are few: one for each revision.
Result<std::vector<bson::Value>> ids_of_name(const CommandContext& context,
                                             const std::string& name);
// Removes the file, unless somebody has done so.
Status remove_if_there(const CommandContext& context, const bson::Value& id);

// Returns the filename, empty if it is no string.
std::string filename_of(bson::View files_document);
// Returns the length in bytes, or nothing if it is not a whole number.
std::optional<int64_t> length_of(bson::View files_document);

}  // namespace gridmount::tools
