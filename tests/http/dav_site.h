// A site over a store on disk, and the verbs that the tests of WebDAV share. They call
// Site::answer() without a socket.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "http/site.h"
#include "http/xml_document.h"
#include "tests/gridfs/bucket_fixture.h"

namespace gridmount::http {

class DavSite : public gridfs::BucketFixture {
 protected:
  using FieldList = std::vector<std::pair<std::string, std::string>>;
  struct DavReply {
    int status = 0;
    FieldList fields;
    std::string body;

    std::string field(const std::string& name) const {
      for (const auto& [key, value] : fields) {
        if (key == name) return value;
      }
      return "";
    }
  };

  void SetUp() override {
    options_.database = bucket().database().name();
    base_ = "/" + bucket().options().name + "/";
    upload("first", "so that the bucket exists");
  }
  void allow_changes() { options_.write.emplace(); }

  // Answers a request for a path in the bucket. `target` may also begin with a slash.
  DavReply ask(Request::Method method, const std::string& target, FieldList fields = {},
               const std::string& body = "") {
    Request request;
    request.method = method;
    request.target = target.starts_with('/') || target == "*" ? target : base_ + target;
    request.fields = std::move(fields);
    request.fields.emplace_back("Host", "localhost");
    request.has_body = !body.empty();
    request.body_bytes = body.size();
    if (!site_) site_ = std::make_unique<Site>(store(), options_);
    Answer answer = site_->answer(request);
    if (auto* const reply = std::get_if<Reply>(&answer)) return read(std::move(*reply));
    const auto receiver = std::move(std::get<std::unique_ptr<BodyReceiver>>(answer));
    for (const std::string& piece :
         {body.substr(0, body.size() / 2), body.substr(body.size() / 2)}) {
      if (auto failed = receiver->take(gridfs::bytes_of(piece))) return read(*std::move(failed));
    }
    return read(receiver->finish());
  }
  DavReply propfind(const std::string& target, const std::string& body = "",
                    const std::string& depth = "0") {
    return ask(Request::Method::kFindProperties, target, {{"Depth", depth}}, body);
  }
  // Returns the body of a PROPFIND that asks for these properties, which are XML.
  static std::string asking_for(const std::string& properties) {
    return "<?xml version=\"1.0\"?><propfind xmlns=\"DAV:\"><prop>" + properties +
           "</prop></propfind>";
  }
  static DavReply read(Reply reply) {
    DavReply done{reply.status, reply.fields, ""};
    while (reply.body) {
      const std::string_view piece = must(reply.body->next());
      if (piece.empty()) break;
      largest_piece_ = std::max(largest_piece_, piece.size());
      done.body += piece;
    }
    return done;
  }

  // Makes the next request use a new site, with the options as they are then.
  void restart() { site_.reset(); }

  SiteOptions options_;
  std::string base_;
  std::unique_ptr<Site> site_;
  static inline size_t largest_piece_ = 0;
};

}  // namespace gridmount::http
