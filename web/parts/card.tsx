import type { ComponentChildren } from 'preact'
import './card.css'

interface CardProps {
  readonly title: string
  /** Stands beside the title. */
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
}

/** A section of a screen with its own heading. */
export function Card({ title, aside, children }: CardProps) {
  const id = `card-${title.toLowerCase().replace(/\W+/g, '-')}`
  return (
    <section class="card" aria-labelledby={id}>
      <header class="card-head">
        <h2 id={id}>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  )
}
