import { type ReadonlySignal, signal } from '@preact/signals'
import type { Tone } from '../words/timeline.js'

/** A short message about an order, which goes by itself. */
export interface Toast {
  readonly id: number
  readonly tone: Tone
  readonly says: string
}

export interface Toasts {
  /** Oldest first. */
  readonly shown: ReadonlySignal<readonly Toast[]>
  show(toast: Omit<Toast, 'id'>): void
  dismiss(id: number): void
}

const SHOWN_MS = 8_000

export function createToasts(): Toasts {
  const shown = signal<readonly Toast[]>([])
  let last = 0
  const dismiss = (id: number) => {
    shown.value = shown.peek().filter((toast) => toast.id !== id)
  }
  return {
    shown,
    dismiss,
    show(toast) {
      last += 1
      const id = last
      shown.value = [...shown.peek(), { ...toast, id }]
      setTimeout(() => dismiss(id), SHOWN_MS)
    },
  }
}
