import type { ComponentChildren } from 'preact'

interface FieldProps {
  readonly label: string
  /** Of the control inside. */
  readonly id: string
  readonly hint?: ComponentChildren
  readonly children: ComponentChildren
}

/** A control with its label and what helps to fill it in. */
export function Field({ label, id, hint, children }: FieldProps) {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children}
      {hint === undefined ? null : <p class="hint">{hint}</p>}
    </div>
  )
}
