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
// or, without this option, in the order of `sort`. The documents come from one snapshot. Each
// document is read just before its visit, and is valid only during the visit. Ends at the first
// error, and returns it. After a signal, this error is kInterrupted.
Status for_each_file(const CommandContext& context, bson::View filter, bson::View sort,
                     const std::function<Status(bson::View)>& visit);

// Returns the files document of the newest file with this name, or nothing if there is no such
// file. newest_file() and file_of_revision() choose the file with
// Bucket::open_download_stream_by_name(), and fail with kInvalidFilesDocument if the files document
// of the chosen file is invalid.
Result<std::optional<bson::Document>> newest_file(const CommandContext& context,
                                                  const std::string& name);
// Returns the files document of one revision of the name, or nothing if no file has this name.
// Revisions >= 0 count from the oldest file (0), and revisions < 0 from the newest file (-1). Fails
// with kRevisionNotFound if fewer files have this name.
Result<std::optional<bson::Document>> file_of_revision(const CommandContext& context,
                                                       const std::string& name, int revision);
// Returns the error kFileNotFound with mongofiles' message. `names` are the names that no file has.
tl::unexpected<Error> files_not_found(std::span<const std::string> names);
// Returns, for each argument of the command, the files document of the newest file with this name,
// or of the revision that --revision selects. A name may occur twice. Fails with files_not_found()
// if some of the names have no file. Also fails as file_of_revision() does.
Result<std::vector<bson::Document>> files_of_arguments(const CommandContext& context);

// Returns the _ids of all files that have the name. Their number is small: one for each revision.
Result<std::vector<bson::Value>> ids_of_name(const CommandContext& context,
                                             const std::string& name);
// Removes the file. Succeeds if the file does not exist.
Status remove_if_there(const CommandContext& context, const bson::Value& id);

// Removes all files with this name, except the file with the _id `new_id`. Then logs that all are
// removed, even if there were none. Ends at the first removal that fails, and returns its error
// with the name in the message.
Status remove_older(const CommandContext& context, const std::string& name,
                    const bson::Value& new_id);

// Returns the filename, or "" if the filename is missing or is not a string.
std::string filename_of(bson::View files_document);
// Returns the length in bytes, or nothing if the length is missing or is not a whole number.
std::optional<int64_t> length_of(bson::View files_document);

}  // namespace gridmount::tools
