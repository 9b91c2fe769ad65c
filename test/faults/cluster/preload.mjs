// Preloaded into each server of the cluster (`node --import`), so the server needs no code for the storm. It kills or stops the
// server before or after a planned statement or step.
import pg from 'pg'
import { createReached, stepClock, stepRequests } from '../engine/steps.mjs'
import '../relay/preload.mjs'

const { FAULTS_CLOCK, FAULTS_WEAK } = process.env
const reached = createReached()

/** The name of a statement's step, by how its text begins, and by the row where that is the narrator's. */
function stepOf({ text, values }) {
  if (text.startsWith('WITH batch') && values[0].includes('narrator')) return 'write-cursor'
  if (text.startsWith('WITH batch')) return `write-${/UPDATE (\w+) AS stored/.exec(text)?.[1]}`
  if (text.startsWith('SELECT transact')) return 'transact'
  if (text.startsWith('WITH expired')) return 'take'
  if (text.startsWith('UPDATE leases')) return 'renew'
  if (text.startsWith('DELETE FROM leases WHERE name')) return 'release'
  // With this statement a new term reads what the one before has left.
  if (text.includes('WHERE is_open AND id > $1')) return 'first-read'
  return undefined
}

/** Takes the fence from the narrator's save on purpose. The storm has to notice. */
function weakened(text, step) {
  if (FAULTS_WEAK !== 'unfenced-narrator' || step !== 'write-cursor') return text
  return text.replace('WHERE lease IS NULL OR', 'WHERE true OR lease IS NULL OR')
}

const { query } = pg.Client.prototype
pg.Client.prototype.query = async function stepped(statement, ...rest) {
  const step = stepOf(statement)
  if (step === undefined) return query.call(this, statement, ...rest)
  reached(`before-${step}`)
  const answer = await query.call(this, { ...statement, text: weakened(statement.text, step) }, ...rest)
  reached(`after-${step}`)
  return answer
}

/** A server posts to the enclave alone. */
function stepsOf(_sent, body) {
  return JSON.parse(body).job === 'order' ? { before: 'before-offer', after: 'after-offer' } : {}
}

stepRequests(stepsOf, reached)
stepClock(FAULTS_CLOCK)
