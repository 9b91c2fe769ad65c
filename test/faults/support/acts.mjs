// The ends and stops of a process at named steps: each is a file in a directory, done once by the first process that reaches its step,
// or one kill that its environment names.
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'

const die = () => process.kill(process.pid, 'SIGKILL')

/** What a server calls at each of its steps. */
export function createReached() {
  const { FAULTS_BENCH, FAULTS_KILL_AT, FAULTS_KILL_NTH } = process.env
  if (FAULTS_BENCH !== undefined) {
    const [planned, done] = ['server-acts', 'server-acted'].map((name) => join(FAULTS_BENCH, name))
    return createActs({ planned, done, die })
  }
  let left = Number(FAULTS_KILL_NTH)
  return (step) => {
    if (step === FAULTS_KILL_AT && --left <= 0) die()
  }
}

/** @param die ends the process, and says so where the bench wants to know */
export function createActs({ planned, done, die }) {
  function act(stopMs) {
    if (stopMs > 0) stop(stopMs)
    else die()
  }

  /** Does what the plan has for this step, if anything. */
  return function reached(step) {
    const name = readdirSync(planned)
      .sort()
      .find((one) => one.endsWith(`-at-${step}`))
    if (name === undefined) return
    try {
      const { afterMs = 0, stopMs } = JSON.parse(readFileSync(join(planned, name), 'utf8'))
      renameSync(join(planned, name), join(done, name))
      if (afterMs > 0 && step === 'later') setTimeout(() => act(stopMs), afterMs).unref()
      else act(stopMs)
    } catch (error) {
      // Another process was faster.
      if (error.code !== 'ENOENT') throw error
    }
  }
}

function stop(ms) {
  const script = `sleep ${ms / 1_000}; kill -CONT ${process.pid}`
  const env = { PATH: process.env.PATH }
  spawn('/bin/sh', ['-c', script], { stdio: 'ignore', detached: true, env }).unref()
  process.kill(process.pid, 'SIGSTOP')
}
