// Types of the answer of `search` by their names in the view.
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
