// Finds the files of the bucket that a command works on.
//
// Thread-safe: functions without state. The callbacks run on the calling thread.
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
// Returns names_beginning_with() of the command's first argument, or the filter for all files if
// there is no argument.
bson::Document names_of_argument(const CommandContext& context);

// Calls `visit` with each files document that matches `filter` and --filter, in the order of --sort
// or, without this option, of `sort`. The documents come from one snapshot. Each is read just
// before its visit, and is valid only during the visit. Returns the first error, which is
// kInterrupted after a signal.
Status for_each_file(const CommandContext& context, bson::View filter, bson::View sort,
                     const std::function<Status(bson::View)>& visit);

// Returns the newest file of the name, as open_download_stream_by_name() chooses it, or nothing.
// This function and the next one fail with InvalidFilesDocument if that file has an invalid
// document.
Result<std::optional<bson::Document>> newest_file(const CommandContext& context,
                                                  const std::string& name);
// Returns the file with that number among those of the name, or nothing if no file has the name. A
// revision >= 0 counts from the oldest, < 0 from the newest. Fails with kRevisionNotFound if there
// are too few.
Result<std::optional<bson::Document>> file_of_revision(const CommandContext& context,
                                                       const std::string& name, int revision);
// Returns the error kFileNotFound with mongofiles' message for names that no file has.
tl::unexpected<Error> files_not_found(std::span<const std::string> names);
// Returns the newest file, or that of --revision, of each of the command's arguments. A name may
// occur twice. If names have no file, fails with files_not_found() of these names. Also fails as
// file_of_revision() does.
Result<std::vector<bson::Document>> files_of_arguments(const CommandContext& context);

// Returns the _ids of all files that have the name. They are few: one for each revision.
Result<std::vector<bson::Value>> ids_of_name(const CommandContext& context,
                                             const std::string& name);
// Removes the file. Succeeds if the file does not exist.
Status remove_if_there(const CommandContext& context, const bson::Value& id);

// Removes all files of the name except the one with the _id `new_id`, and logs that they are
// removed. Ends at the first removal that fails. The message of its error has the name.
Status remove_older(const CommandContext& context, const std::string& name,
                    const bson::Value& new_id);

// Returns the filename, empty if it is no string.
std::string filename_of(bson::View files_document);
// Returns the length in bytes, or nothing if it is not a whole number.
std::optional<int64_t> length_of(bson::View files_document);

}  // namespace gridmount::tools
