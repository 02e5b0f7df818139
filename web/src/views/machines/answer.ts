// The answer of `size` by the names that the view has for it.
export type { Row, SizeAnswer } from '../../api/schema/size'
