// JSON, as much of it as the protocol has: what is read is a Json, what is written is text.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace broker_tck {

using Position = std::pair<std::int64_t, std::int64_t>;  // of a message: its ledger id and its entry id
using Positions = std::vector<Position>;

// A value that was read. Each accessor throws if the value is of another kind.
class Json {
 public:
  using Array = std::vector<Json>;
  using Object = std::vector<std::pair<std::string, Json>>;

  Json() = default;  // null
  template <class T>
  explicit Json(T value) : value_(std::move(value)) {}

  bool is_null() const { return std::holds_alternative<std::nullptr_t>(value_); }
  bool is_object() const { return std::holds_alternative<Object>(value_); }
  bool boolean() const { return std::get<bool>(value_); }
  std::int64_t integer() const { return std::get<std::int64_t>(value_); }
  const std::string& text() const { return std::get<std::string>(value_); }
  const Array& array() const { return std::get<Array>(value_); }

  // A number, whole or not.
  double number() const {
    const auto* whole = std::get_if<std::int64_t>(&value_);
    return whole ? static_cast<double>(*whole) : std::get<double>(value_);
  }

  // The value of a name; nullptr if the object has none, or null.
  const Json* find(const std::string& name) const {
    for (const auto& [key, value] : std::get<Object>(value_)) {
      if (key == name) return value.is_null() ? nullptr : &value;
    }
    return nullptr;
  }

  const Json& operator[](const std::string& name) const {
    if (const Json* found = find(name)) return *found;
    throw std::out_of_range("there is no " + name);
  }

 private:
  std::variant<std::nullptr_t, bool, std::int64_t, double, std::string, Array, Object> value_;
};

// Reads one line.
class Reader {
 public:
  explicit Reader(const std::string& line) : at_(line.c_str()) {}

  Json value() {
    switch (next()) {
      case '[':
        return Json(array());
      case '{':
        return Json(object());
      case '"':
        return Json(text());
      case 't':
        return literal("true", Json(true));
      case 'f':
        return literal("false", Json(false));
      case 'n':
        return literal("null", Json());
      default:
        return number();
    }
  }

 private:
  const char* at_;

  char next() {
    while (*at_ == ' ' || *at_ == ',' || *at_ == '\r') ++at_;
    return *at_;
  }

  void take(char mark) {
    if (next() != mark) throw std::invalid_argument(std::string("expected ") + mark + " before: " + at_);
    ++at_;
  }

  bool closed(char mark) {
    if (next() == 0) throw std::invalid_argument("the line ends too early");
    if (*at_ != mark) return false;
    ++at_;
    return true;
  }

  Json literal(const char* word, Json meant) {
    if (std::strncmp(at_, word, std::strlen(word)) != 0) throw std::invalid_argument(std::string("no JSON: ") + at_);
    at_ += std::strlen(word);
    return meant;
  }

  Json::Array array() {
    Json::Array items;
    for (take('['); !closed(']');) items.push_back(value());
    return items;
  }

  Json::Object object() {
    Json::Object names;
    for (take('{'); !closed('}');) {
      std::string name = text();
      take(':');
      names.emplace_back(std::move(name), value());
    }
    return names;
  }

  // No text of the protocol has an escape other than of a quotation mark or a backslash.
  std::string text() {
    std::string read;
    for (take('"'); *at_ && *at_ != '"'; ++at_) {
      if (*at_ == '\\' && !*++at_) break;
      read += *at_;
    }
    take('"');
    return read;
  }

  Json number() {
    char *end_of_whole = nullptr, *end = nullptr;
    std::int64_t whole = std::strtoll(at_, &end_of_whole, 10);
    double real = std::strtod(at_, &end);
    if (end == at_) throw std::invalid_argument(std::string("no JSON: ") + at_);
    at_ = end;
    return end == end_of_whole ? Json(whole) : Json(real);
  }
};

inline std::string json(bool value) { return value ? "true" : "false"; }
inline std::string json(std::int64_t value) { return std::to_string(value); }
inline std::string json(const std::string& text) {
  std::string written = "\"";
  for (char letter : text) {
    if (letter == '"' || letter == '\\') written += '\\';
    written += static_cast<unsigned char>(letter) < ' ' ? ' ' : letter;
  }
  return written + '"';
}
inline std::string json(const char* text) { return json(std::string(text)); }
inline std::string json(const Position& p) { return "[" + json(p.first) + "," + json(p.second) + "]"; }

// A list of values that are JSON already.
inline std::string json_list(const std::vector<std::string>& written) {
  std::string list = "[";
  for (const std::string& each : written) (list.size() > 1 ? list += ',' : list) += each;
  return list + ']';
}

template <class T>
std::string json(const std::vector<T>& values) {
  std::string list = "[";
  for (const T& value : values) (list.size() > 1 ? list += ',' : list) += json(value);
  return list + ']';
}

}  // namespace broker_tck
