// Types of the answer of `size` by their names in the view.
export type { Row, SizeAnswer } from '../../api/schema/size'
