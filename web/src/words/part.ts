// What stands in a gap of a sentence: a number or a text that is already formatted.
export type Part = string | number | null | undefined
