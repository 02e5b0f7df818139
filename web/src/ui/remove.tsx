// The button that takes one row or value away.
interface Props {
  /** Name for screen readers: what is removed. */
  readonly label: string
  readonly onClick: () => void
}

export function RemoveButton({ label, onClick }: Props) {
  return (
    <button type="button" class="button quiet icon" aria-label={label} onClick={onClick}>
      ✕
    </button>
  )
}
