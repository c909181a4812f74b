// Lets broker-tck check an implementation that is written in C++ (17 or later).
//
// A program calls serve_delayed_delivery or serve_negative_acks in its main function, with a function that makes its
// implementation. The rig speaks the protocol of broker-tck on standard input and output, and has the clock, the
// timers, and whatever else the implementation is given. What the program prints to std::cout goes to standard error.
#pragma once

#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "json.hpp"

namespace broker_tck {

// What an operation ends with that fails, by the name that rules know it by. Any other exception has the name
// "exception".
struct Failure : std::runtime_error {
  std::string name;
  explicit Failure(std::string error, const std::string& message = "")
      : std::runtime_error(message), name(std::move(error)) {}
};

// What a program says of its implementation before it is asked anything.
struct Declaration {
  std::vector<std::string> profiles;                             // what it is checked against, at least one
  std::map<std::string, std::variant<bool, int>> capabilities;  // what it lacks or has besides
  std::string software;                                          // its name and version

  bool has(const std::string& capability) const {
    auto found = capabilities.find(capability);
    return found != capabilities.end() && found->second == std::variant<bool, int>(true);
  }

  std::string written(const std::string& contract) const {
    std::string able;
    for (const auto& [name, value] : capabilities) {
      const int* number = std::get_if<int>(&value);
      able += (able.empty() ? "" : ",") + json(name) + ":";
      able += number ? json(std::int64_t{*number}) : json(std::get<bool>(value));
    }
    return "{\"protocol\":1,\"contract\":" + json(contract) + ",\"profiles\":" + json(profiles) +
           ",\"capabilities\":{" + able + "},\"levels\":[\"operations\",\"traces\"],\"software\":" + json(software) +
           "}";
  }
};

// One line of a trace: its name, and its fields.
class Operation {
 public:
  explicit Operation(const Json& line) : line_(line.array()) {}

  const std::string& name() const { return line_.at(0).text(); }
  const Json& operator[](std::size_t field) const { return line_.at(field + 1); }
  std::int64_t integer(std::size_t field) const { return (*this)[field].integer(); }
  const std::string& text(std::size_t field) const { return (*this)[field].text(); }

 private:
  Json::Array line_;
};

// Does the operations of one trace. What it returns is JSON.
struct Subject {
  virtual ~Subject() = default;
  virtual std::string perform(const Operation& operation) = 0;
  virtual std::string seen() = 0;  // all observables, in the order of the contract, with commas between; or nothing
};

// What a call came to: what it returned, or the error that it ended with. Both are JSON.
struct Outcome {
  std::string json;
  bool failed = false;
};

inline Outcome attempt(const std::function<std::string()>& call) {
  auto failure = [](const std::string& name, const std::string& message) {
    return Outcome{"{\"error\":" + json(name) + ",\"message\":" + json(message) + "}", true};
  };
  try {
    return {call()};
  } catch (const Failure& error) {
    return failure(error.name, error.what());
  } catch (const std::exception& error) {
    return failure("exception", error.what());
  }
}

// The answer to an operation: its result, then the observables. If these cannot be told, the error alone.
inline std::string answer(Subject& subject, const Operation& operation) {
  Outcome result = attempt([&] { return subject.perform(operation); });
  Outcome seen = attempt([&] { return subject.seen(); });
  if (seen.failed) return "[" + seen.json + "]";
  return "[" + result.json + (seen.json.empty() ? "" : ",") + seen.json + "]";
}

// Makes the subject of a trace, by the configuration.
using Fresh = std::function<std::unique_ptr<Subject>(const Json& config)>;

// Speaks the protocol until the input ends, with a new subject for each trace. Returns the exit status.
inline int converse(std::istream& in, std::ostream& out, const std::string& greeting, const Fresh& fresh) {
  out << greeting << std::endl;
  std::string line;
  if (!std::getline(in, line)) return 0;
  if (Json reply = Reader(line).value(); const Json* error = reply.find("error")) {
    std::cerr << "broker-tck: " << error->text() << std::endl;
    return 2;
  }
  std::unique_ptr<Subject> subject;
  Outcome made;
  while (std::getline(in, line)) {
    Json message = Reader(line).value();
    if (message.is_object()) {
      subject.reset();  // the last one ends before the next begins
      made = attempt([&] { return subject = fresh(message["config"]), ""; });
    } else if (made.failed) {
      out << "[" + made.json + "]" << std::endl;
    } else {
      out << answer(*subject, Operation(message)) << std::endl;
    }
  }
  return 0;
}

// Has broker-tck check subjects of a contract. Returns the exit status of the program.
inline int serve(const std::string& contract, const Declaration& declared, const Fresh& fresh) {
  std::ios::sync_with_stdio(false);
  std::ostream out(std::cout.rdbuf());
  std::cout.rdbuf(std::cerr.rdbuf());  // what is printed is no answer
  return converse(std::cin, out, declared.written(contract), fresh);
}

}  // namespace broker_tck
