// Preloaded modules build on this: they count the steps of a process, kill or stop it at the planned ones, and set its clock.
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, renameSync } from 'node:fs'
import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'

const CLOCK_LOOK_MS = 50

const die = () => process.kill(process.pid, 'SIGKILL')

/** Called at each step of a server. The environment names one step to die at, or a directory has acts for all servers. */
export function createReached() {
  const { FAULTS_BENCH: bench } = process.env
  if (bench === undefined) return createKill()
  return createActs({ planned: join(bench, 'server-acts'), done: join(bench, 'server-acted'), die })
}

/** Kills the process at the nth occasion of the step that its environment names. */
export function createKill() {
  const { FAULTS_KILL_AT, FAULTS_KILL_NTH } = process.env
  let left = Number(FAULTS_KILL_NTH)
  return (step) => {
    if (step === FAULTS_KILL_AT && --left <= 0) die()
  }
}

/**
 * Each act is a file in a directory, and the first process that reaches its step carries it out, once.
 * @param die kills the process, after a note of it where the storm needs one
 */
export function createActs({ planned, done, die }) {
  function act(stopMs) {
    if (stopMs > 0) stop(stopMs)
    else die()
  }

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

/**
 * Counts steps around the POST requests that the process sends by `node:http`.
 * @param stepsOf names the steps before a request leaves, and once its answer has begun
 */
export function stepRequests(stepsOf, reached) {
  const { request } = http
  http.request = (...args) => {
    const sent = request(...args)
    const { end } = sent
    sent.end = (body, ...rest) => {
      if (sent.method === 'POST') {
        const { before, after } = stepsOf(sent, body)
        if (before !== undefined) reached(before)
        if (after !== undefined) sent.prependOnceListener('response', () => reached(after))
      }
      return end.call(sent, body, ...rest)
    }
    return sent
  }
  syncBuiltinESMExports()
}

/** Sets the process's clock by the milliseconds in a file. Timers go on: the monotonic clock of a machine cannot be set. */
export function stepClock(file) {
  const RealDate = Date
  let offset = 0

  function look() {
    try {
      offset = Number(readFileSync(file, 'utf8'))
    } catch {
      offset = 0
    }
  }

  globalThis.Date = class extends RealDate {
    constructor(...parts) {
      if (parts.length === 0) super(RealDate.now() + offset)
      else super(...parts)
    }

    static now() {
      return RealDate.now() + offset
    }
  }
  look()
  setInterval(look, CLOCK_LOOK_MS).unref()
}
