// Goal: SCRAM authentication follows the RFCs and MongoDB's drivers, and nothing else succeeds.
// Method: the RFCs' examples, and messages with one error each.
#include "engine/wire/auth/scram.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/wire/auth/digest.h"
#include "engine/wire/auth/password_preparation.h"

namespace gridmount::wire {
namespace {

constexpr ErrorCode kAuthenticationFailed{18};

ScramCredentials credentials_of(DigestAlgorithm algorithm, std::string_view password,
                                std::string_view salt, int32_t iterations) {
  const std::string salted = *derive_key(algorithm, password, salt, iterations);
  return {iterations, std::string(salt),
          *digest(algorithm, *keyed_digest(algorithm, salted, "Client Key")),
          *keyed_digest(algorithm, salted, "Server Key")};
}

// The exchange of RFC 5802, section 5.
struct Sha1Example {
  std::string first = "n,,n=user,r=fyko+d2lbbFgONRv9qkxdawL";
  std::string nonce = "3rfcNHYJY1ZVvWVs7j";
  std::string challenge = "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,s=QSXCR+Q6sek8bf92,i=4096";
  std::string without_proof = "c=biws,r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j";
  std::string proof = "v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=";
  ScramCredentials credentials =
      credentials_of(DigestAlgorithm::kSha1, "pencil", *from_base64("QSXCR+Q6sek8bf92"), 4096);

  ScramConversation challenged() const {
    ScramConversation scram(ScramMechanism::kSha1);
    EXPECT_TRUE(scram.first(first));
    EXPECT_EQ(scram.begin(credentials, nonce).value_or(""), challenge);
    return scram;
  }
};

TEST(Scram, Sha1_IsThatOfRfc5802) {
  const Sha1Example example;
  ScramConversation scram = example.challenged();
  EXPECT_EQ(scram.user(), "user");
  const auto answer = scram.finish(example.without_proof + ",p=" + example.proof);
  ASSERT_TRUE(answer);
  EXPECT_EQ(*answer, "v=rmF9pqV8S7suAoZWja4dJRkFsKQ=");
  EXPECT_TRUE(scram.succeeded());
}

TEST(Scram, Sha256_IsThatOfRfc7677) {
  ScramConversation scram(ScramMechanism::kSha256);
  ASSERT_TRUE(scram.first("n,,n=user,r=rOprNGfwEbeRWgbNEkqO"));
  const auto challenge = scram.begin(credentials_of(DigestAlgorithm::kSha256, "pencil",
                                                    *from_base64("W22ZaJ0SNY7soEsUEjb6gQ=="), 4096),
                                     "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0");
  ASSERT_TRUE(challenge);
  EXPECT_EQ(
      *challenge,
      "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096");
  const auto answer = scram.finish(
      "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
      "p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
  ASSERT_TRUE(answer);
  EXPECT_EQ(*answer, "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
}

TEST(Scram, WrongLastMessages_AreRefused) {
  const Sha1Example example;
  const std::string right = example.without_proof + ",p=" + example.proof;
  const std::vector<std::string> wrong = {
      "",
      ",p=",
      example.without_proof,
      example.without_proof + ",p=",
      example.without_proof + ",p=v0X8v3Bz2T0CJGbJQyF0X+HI4Tt=",
      example.without_proof + ",p=v0X8v3Bz2T0CJGbJQyF0X+HI",
      example.without_proof + ",p=" + example.proof + ",p=" + example.proof,
      "c=eSws" + right.substr(6),
      "c=biws,r=fyko+d2lbbFgONRv9qkxdawL,p=" + example.proof,
      "r=fyko+d2lbbFgONRv9qkxdawL3rfcNHYJY1ZVvWVs7j,c=biws,p=" + example.proof,
  };
  for (const std::string& message : wrong) {
    SCOPED_TRACE(message);
    ScramConversation scram = example.challenged();
    const auto answer = scram.finish(message);
    ASSERT_FALSE(answer);
    EXPECT_EQ(answer.error().code(), kAuthenticationFailed);
    EXPECT_FALSE(scram.succeeded());
    // A conversation has no second attempt.
    EXPECT_FALSE(scram.finish(right));
  }
}

TEST(Scram, WrongFirstMessages_AreRefused) {
  for (const char* message :
       {"", "n", "n,", "n,,", "n,,n=user", "n,,r=abc,n=user", "n,,n=,r=abc",
        "n,,n=user,r=", "p=tls-unique,,n=user,r=abc", "n,a=other,n=user,r=abc", "n,,n=us=er,r=abc",
        "n,,n=us=2cer,r=abc", "n,,m=x,n=user,r=abc"}) {
    SCOPED_TRACE(message);
    ScramConversation scram(ScramMechanism::kSha256);
    EXPECT_FALSE(scram.first(message));
    EXPECT_FALSE(scram.begin({}, "nonce"));
    EXPECT_FALSE(scram.finish("c=biws,r=nonce,p="));
  }
}

TEST(Scram, Names_AreUnescaped) {
  ScramConversation scram(ScramMechanism::kSha256);
  ASSERT_TRUE(scram.first("n,,n=a=2Cb=3Dc,r=abc"));
  EXPECT_EQ(scram.user(), "a,b=c");
}

TEST(Scram, Decoys_AreStableAndNeverProved) {
  const ScramCredentials one = decoy_credentials(ScramMechanism::kSha256, "a.x", "secret");
  EXPECT_EQ(one.salt, decoy_credentials(ScramMechanism::kSha256, "a.x", "secret").salt);
  EXPECT_NE(one.salt, decoy_credentials(ScramMechanism::kSha256, "a.y", "secret").salt);
  const std::string other = decoy_credentials(ScramMechanism::kSha1, "a.x", "secret").salt;
  EXPECT_NE(one.salt.substr(0, other.size()), other);
  const Result<ScramCredentials> real = make_credentials(ScramMechanism::kSha256, "x", "pw");
  ASSERT_TRUE(real);
  EXPECT_EQ(one.salt.size(), real->salt.size());
  EXPECT_EQ(one.iterations, kSha256Iterations);
  const Sha1Example example;
  ScramConversation scram(ScramMechanism::kSha1);
  ASSERT_TRUE(scram.first(example.first));
  ASSERT_TRUE(scram.begin(decoy_credentials(ScramMechanism::kSha1, "user", "secret"), "x"));
  EXPECT_FALSE(
      scram.finish("c=biws,r=fyko+d2lbbFgONRv9qkxdawLx,p=" + to_base64(std::string(20, '\0'))));
}

TEST(Scram, Credentials_SurviveTheirDocument) {
  const Result<ScramCredentials> credentials =
      make_credentials(ScramMechanism::kSha1, "user", "pencil");
  ASSERT_TRUE(credentials);
  const ScramCredentials& made = *credentials;
  const bson::Document document = to_bson(made);
  const auto read = credentials_from_bson(document);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->stored_key, made.stored_key);
  EXPECT_EQ(read->server_key, made.server_key);
  EXPECT_EQ(read->salt, made.salt);
  EXPECT_EQ(read->iterations, kSha1Iterations);
  EXPECT_FALSE(credentials_from_bson(bson::View()));
}

TEST(Scram, Passwords_AreNormalized) {
  EXPECT_EQ(prepare_password("pencil").value_or(""), "pencil");
  // A soft hyphen disappears, a no-break space becomes a space, a Roman numeral becomes letters.
  EXPECT_EQ(prepare_password("I\xC2\xADX").value_or(""), "IX");
  EXPECT_EQ(prepare_password("a\xC2\xA0"
                             "b")
                .value_or(""),
            "a b");
  EXPECT_EQ(prepare_password("\xE2\x85\xA8").value_or(""), "IX");
  EXPECT_FALSE(prepare_password("a\x07"));
  EXPECT_FALSE(prepare_password("\xFF"));
  EXPECT_FALSE(make_credentials(ScramMechanism::kSha256, "user", ""));
}

TEST(Digest, Base64_IsExact) {
  for (const std::string_view bytes : {"", "f", "fo", "foo", "foob"}) {
    EXPECT_EQ(from_base64(to_base64(bytes)), bytes);
  }
  EXPECT_EQ(to_base64("fo"), "Zm8=");
  for (const char* wrong : {"Zm8", "Z===", "Zm8=Zm8=", "Zm\n=", "Zm!="}) {
    EXPECT_FALSE(from_base64(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace gridmount::wire
