// Small marks that several desks use.
import type { ComponentChildren } from 'preact'

/** A name behind its colour. */
export function Swatched({ colour, children }: { colour: string; children: ComponentChildren }) {
  return (
    <span class="swatched">
      <span class="swatch" style={{ background: colour }} />
      {children}
    </span>
  )
}

/** A share as a bar behind its number. */
export function ShareBar({ share, colour = 'var(--accent)', title }: { share: number; colour?: string; title?: string }) {
  return (
    <span class="spent-bar" title={title} aria-hidden="true">
      <span style={{ width: `${Math.min(1, share) * 100}%`, background: colour }} />
    </span>
  )
}
