import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Environment } from './connection.js'

/** Under `$XDG_STATE_HOME`, or `~/.local/state`: https://specifications.freedesktop.org/basedir/latest/ */
export function stateDirectory({ XDG_STATE_HOME, HOME }: Environment, name: 'orders' | 'rulebooks'): string {
  const state = XDG_STATE_HOME || join(HOME || homedir(), '.local', 'state')
  return join(state, 'confidential-trading', name)
}
