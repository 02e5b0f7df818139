// Value of a placeholder in a sentence: a number or a formatted text.
export type Part = string | number | null | undefined
