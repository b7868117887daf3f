// The tree that the server shows: the buckets of a database, their directories and their files.
//
//   /                         the buckets
//   /BUCKET/PATH              a directory or a file, by the names that the mount shows
//   /.id/BUCKET/ID            a file by its _id: the digits of an ObjectId, or Extended JSON
//
// Clients read the tree by GET and HEAD, and by the PROPFIND of WebDAV.
//
// The site shows what is committed in the store. It writes nothing, unless SiteOptions::write is
// set.
//
// Thread-safe. Each request reads the store anew. Between requests, the site keeps only locks
// (lock_table.h).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/store.h"
#include "gridfs/namespace/path_namespace.h"
#include "http/host_names.h"
#include "http/reply.h"
#include "http/request.h"
#include "http/request_handler.h"
#include "http/site_changes.h"
#include "http/target.h"

namespace gridmount::http {

struct SiteOptions {
  std::string database;
  std::optional<std::string> bucket;  // the only bucket that is shown; unset: all buckets
  std::optional<bson::Date> at;       // unset: the present tree (NamespaceOptions::at)
  std::vector<std::string> hosts;     // names allowed in Host, besides the loopback names
  std::optional<WriteOptions> write;  // unset: nothing can be changed
};

class Site final : public RequestHandler {
 public:
  // `store` must outlive the site and the bodies of its replies.
  Site(engine::Store& store, SiteOptions options);

  // Turns errors into replies, and logs errors of the server (status 500).
  Answer answer(const Request& request) const override;
  void stop() const override {
    if (changes_) changes_->stop();
  }

 private:
  using Paths = std::shared_ptr<gridfs::PathNamespace>;

  Result<Answer> try_answer(const Request& request) const;
  // Says which methods can be used with the target, and which classes of WebDAV the site supports.
  Reply options_reply(const Target& target) const;
  // Answers PROPFIND.
  Result<Answer> find_all_properties(const Request& request, const Target& target) const;
  // Answers a request that may change something. `host` is the checked name of this server.
  Result<Answer> change(const Request& request, const Target& target,
                        const std::string& host) const;
  // Answers COPY, MOVE, PROPPATCH, LOCK and UNLOCK.
  Result<Answer> change_by_webdav(const Request& request, const Target& target, const Paths& paths,
                                  const std::string& host) const;
  // Answers COPY and MOVE.
  Result<Answer> copy_or_move(const Request& request, const Target& from, const Paths& paths,
                              const std::string& host) const;
  Result<std::vector<std::string>> shown_buckets() const;
  Result<Reply> list_buckets(const Request& request, const Target& target) const;
  Result<Reply> answer_path(const Request& request, const Target& target) const;
  Result<Reply> answer_id(const Request& request, const Target& target) const;
  // Fails with NoSuchEntry if the bucket does not exist, or if the bucket is not shown.
  Result<Paths> open_bucket(const std::string& name) const;
  // Fails with FileNotFound if the file was replaced or removed between the look-up and the reading
  // of its document. The caller should then try again. Fails with NoSuchEntry if the path leads
  // nowhere, with PermissionDenied if it leads to a symbolic link, a device or the like, with
  // BadValue for an unknown format of a listing, with InvalidFilesDocument if the files document is
  // invalid, and with the errors of PathNamespace.
  Result<Reply> answer_node(const Request& request, const Target& target, const Paths& paths) const;

  engine::Store& store_;
  const SiteOptions options_;
  const HostNames hosts_;
  const std::shared_ptr<engine::Database> database_;
  const std::shared_ptr<const SiteChanges> changes_;  // null: nothing can be changed
};

}  // namespace gridmount::http
