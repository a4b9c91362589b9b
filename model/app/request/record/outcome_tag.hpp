// First character of what a worker process answers: what the rest of the text is.
#pragma once

namespace foretell {

inline constexpr char kRecordTag = 'R';     // a record as JSON
inline constexpr char kGoodTag = '+';       // numbers
inline constexpr char kUserFaultTag = 'U';  // the message of a UserError
inline constexpr char kOurFaultTag = 'I';   // the message of any other error

}  // namespace foretell
