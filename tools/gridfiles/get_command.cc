// get, get_id and get_regex: copy files of the bucket to local files. If a name has several
// revisions, they copy the newest one. With --revision, get copies that revision.
#include <algorithm>
#include <compare>
#include <iterator>
#include <string>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/compare.h"
#include "gridfs/bucket/upload_order.h"
#include "tools/gridfiles/command.h"
#include "tools/gridfiles/file_query.h"
#include "tools/gridfiles/local_file.h"
#include "tools/gridfiles/target.h"
#include "tools/gridfiles/transfers.h"
#include "tools/quoted.h"

namespace gridmount::tools {

namespace {

// `kind` says where the target's name comes from.
Status download(const CommandContext& context, const Target& target, LocalName kind) {
  const Options& options = context.options;
  const bool is_given = !options.local.empty();
  const std::string& local_name = is_given ? options.local : target.name;
  GM_ASSIGN(AtomicFile output, create_local_file(local_name, is_given ? LocalName::kOfOption : kind,
                                                 options.overwrite_local, options.recursive));
  context.log.line(Log::kDebug, "created local file " + in_quotes(local_name));
  context.progress.set_subject(target.name);
  auto stream = context.bucket.open_download_stream(target.id);
  if (!stream) {
    return fail(std::move(stream).error().with_context("could not open download stream"));
  }
  Status copied = write_all(**stream, output, context.progress);
  if (copied) copied = output.commit();
  if (!copied) {
    if (copied.error().code() == ErrorCode::kInterrupted) return copied;
    return fail(std::move(copied).error().with_context("error while writing Data into local file " +
                                                       in_quotes(local_name)));
  }
  context.log.line(Log::kAlways, "finished writing to " + in_quotes(local_name) + "\n");
  return {};
}

// Returns the kind of a name that was not on the command line. With --allowUnsafeTraversal, the
// name is treated as an argument, so that get follows symbolic links.
LocalName found_name(const Options& options) {
  return options.allow_unsafe_traversal ? LocalName::kOfArgument : LocalName::kOfBucket;
}

Status download_all(const CommandContext& context, const std::vector<Target>& targets,
                    LocalName kind) {
  if (targets.size() > 1 && !context.options.local.empty()) {
    return fail(ErrorCode::kInvalidOptions, "cannot get multiple files with --local specified");
  }
  for (const Target& target : targets) context.progress.expect(target.bytes);
  return run_transfers(context.options.jobs, targets.size(),
                       [&](size_t i) { return download(context, targets[i], kind); });
}

bool is_newer(bson::View a, bson::View b) {
  for (const char* field : {"uploadDate", "_id"}) {
    auto value_a = a.find(field);
    auto value_b = b.find(field);
    if (!value_a || !value_b) return value_a.has_value();
    std::weak_ordering order = bson::compare(*value_a, *value_b);
    if (order != 0) return order > 0;
  }
  return false;
}

// Returns the newest file of each name among the files that match. Fails as check_traversal() does.
Result<std::vector<Target>> newest_targets(const CommandContext& context, bson::View filter) {
  engine::FindOptions find_options;
  find_options.sort = gridfs::by_filename_oldest_first();

  std::vector<Target> targets;
  bson::Document newest;  // the newest file of the name being read
  GM_ASSIGN(auto snapshot, context.bucket.store().snapshot());
  GM_ASSIGN(auto cursor, context.bucket.find(*snapshot, filter, find_options));
  for (;;) {
    GM_ASSIGN(auto document, cursor->next());
    if (!document) return targets;
    Target target = target_of(*document);
    if (targets.empty() || targets.back().name != target.name) {
      GM_TRY(check_traversal(context, target.name));
      targets.push_back(std::move(target));
    } else if (is_newer(*document, newest)) {
      targets.back() = std::move(target);
    } else {
      continue;
    }
    newest = bson::Document(*document);
  }
}

// Returns the newest files of the name and of all names below it.
Result<std::vector<Target>> targets_below(const CommandContext& context, std::string name) {
  while (name.ends_with('/')) name.pop_back();
  bson::Builder filter;
  filter.open_array("$or").push_open_document().append("filename", name).close();
  filter.push(names_beginning_with(name + "/")).close();
  return newest_targets(context, std::move(filter).finish());
}

Status get_recursively(const CommandContext& context) {
  std::vector<Target> all;
  std::vector<std::string> missing;
  for (const std::string& name : context.arguments) {
    GM_ASSIGN(std::vector<Target> targets, targets_below(context, name));
    if (targets.empty()) missing.push_back(name);
    std::move(targets.begin(), targets.end(), std::back_inserter(all));
  }
  if (!missing.empty()) return files_not_found(missing);
  return download_all(context, all, found_name(context.options));
}

}  // namespace

Status run_get(const CommandContext& context) {
  const Options& options = context.options;
  if (options.recursive && options.revision) {
    return fail(ErrorCode::kInvalidOptions, "cannot get folders with --revision specified");
  }
  if (options.recursive) return get_recursively(context);
  std::vector<std::string> names;
  for (const std::string& name : context.arguments) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  // Finds all files before the first one is written.
  std::vector<Target> targets;
  std::vector<std::string> missing;
  for (const std::string& name : names) {
    GM_ASSIGN(const auto file, file_of_revision(context, name, options.revision.value_or(-1)));
    if (file) {
      Target target = target_of(*file);
      target.name = name;
      targets.push_back(std::move(target));
    } else {
      missing.push_back(name);
    }
  }
  if (!missing.empty()) return files_not_found(missing);
  return download_all(context, targets, LocalName::kOfArgument);
}

Status run_get_id(const CommandContext& context) {
  GM_ASSIGN(Target target, find_target_by_id(context, context.arguments[0]));
  return download_all(context, {std::move(target)}, found_name(context.options));
}

Status run_get_regex(const CommandContext& context) {
  const std::string& pattern = context.arguments[0];
  bson::Builder filter;
  filter.open_document("filename")
      .append("$regex", pattern)
      .append("$options", context.options.regex_options)
      .close();
  GM_ASSIGN(const std::vector<Target> targets, newest_targets(context, std::move(filter).finish()));
  if (targets.empty()) {
    return fail(gridfs::kFileNotFound,
                "files matching the following pattern were not found: " + in_quotes(pattern));
  }
  return download_all(context, targets, found_name(context.options));
}

}  // namespace gridmount::tools
