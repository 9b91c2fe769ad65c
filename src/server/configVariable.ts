import { z } from 'zod'

/** Variables as a process has them. An empty one counts as absent. */
export type Environment = Readonly<Record<string, string | undefined>>

/** What is wrong with one variable. `problem` never quotes the value. */
export interface ConfigFault {
  readonly name: string
  readonly problem: string
}

/** What an env example says of a variable. */
export interface VariableNotes {
  /** Opens a section of the file. */
  readonly section?: string
  readonly about: string
  /** What stands as a required variable's value. */
  readonly example?: string
  /** An optional variable's default; without it the variable has none, or one that depends on the installation. */
  readonly fallback?: string
}

export const variableNotes = z.registry<VariableNotes>()

type Text<T> = z.ZodType<T, string>

export function required<T>(schema: Text<T>, notes: VariableNotes & { example: string }) {
  return z.string({ error: 'is missing' }).pipe(schema).register(variableNotes, notes)
}

export function withDefault<T>(schema: Text<T>, notes: VariableNotes & { fallback: string }) {
  return z.string().default(notes.fallback).pipe(schema).register(variableNotes, notes)
}

export function optional<T>(schema: Text<T>, notes: VariableNotes) {
  return z.string().pipe(schema).optional().register(variableNotes, notes)
}

/** Required unless another variable stands in its place. */
export function alternative<T>(schema: Text<T>, notes: VariableNotes & { example: string }) {
  return z.string().pipe(schema).optional().register(variableNotes, notes)
}
