// The answer of `search` by the names that the view has for it.
export type {
  Answer as Named,
  Candidate,
  Cell,
  Miss,
  Peak as Memory,
  Ranked,
  Remedied as Remedy,
  SearchAnswer,
  Shown as Found,
  Spent,
  Warning as Warned,
  WhyNot,
} from '../../api/schema/search'
