/**
 * How late a wait notices the end of a deploy, and how many polls it costs: our interval (backs off inside a
 * status, starts again when it changes) beside a fixed interval and plain exponential backoff with the same
 * bounds. Simulated on a clock of its own, over walks of real lengths; ratios to the fixed interval of 3 s that
 * the official CLI uses.
 */
import { nextInterval } from '../src/deploy/interval.ts'

const MIN = 2_000
const MAX = 15_000

/** Seconds in each status: a first deploy, an update that is built, an image. Spread by a factor, 200 of each. */
const WALKS = {
  'first deploy (15 min)': {
    CREATING: 15,
    QUEUED: 20,
    AWAITING_BUILD: 10,
    BUILDING: 420,
    AWAITING_DEPLOY: 15,
    DEPLOYING: 420,
  },
  'update (4 min)': {
    CREATING: 3,
    QUEUED: 5,
    AWAITING_BUILD: 5,
    BUILDING: 140,
    AWAITING_DEPLOY: 5,
    DEPLOYING: 80,
  },
  'image (1 min)': { CREATING: 2, QUEUED: 3, AWAITING_DEPLOY: 5, DEPLOYING: 50 },
}

const strategies = {
  'fixed 3 s': () => () => 3_000,
  'fixed 15 s': () => () => 15_000,
  exponential: () => {
    let wait = MIN / 1.5
    return () => {
      wait = Math.min(MAX, wait * 1.5)
      return wait
    }
  },
  ours: () => {
    let polls = 0
    let last = ''
    return (status) => {
      polls = status === last ? polls + 1 : 0
      last = status
      return nextInterval({ status, polls, minMs: MIN, maxMs: MAX })
    }
  },
}

function simulate(walk, next) {
  const ends = []
  let at = 0
  for (const [status, seconds] of Object.entries(walk)) {
    at += seconds * 1000
    ends.push([status, at])
  }
  const statusAt = (ms) => ends.find(([, end]) => ms < end)?.[0] ?? 'DEPLOYED'
  let now = 0
  let polls = 1
  while (statusAt(now) !== 'DEPLOYED') {
    now += next(statusAt(now))
    polls++
  }
  return { polls, late: (now - at) / 1000 }
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length

for (const [title, walk] of Object.entries(WALKS)) {
  console.log(`\n${title}`)
  console.log('  strategy       polls   late (s)   late, ratio to fixed 3 s   polls, ratio')
  let base
  for (const [name, start] of Object.entries(strategies)) {
    const runs = Array.from({ length: 200 }, (_, index) => {
      const factor = 0.7 + (0.6 * index) / 199
      const spread = Object.fromEntries(
        Object.entries(walk).map(([status, seconds]) => [status, seconds * factor]),
      )
      return simulate(spread, start())
    })
    const polls = mean(runs.map((run) => run.polls))
    const late = mean(runs.map((run) => run.late))
    base ??= { polls, late }
    console.log(
      `  ${name.padEnd(13)} ${polls.toFixed(1).padStart(6)} ${late.toFixed(2).padStart(10)} ${(late / base.late).toFixed(2).padStart(20)} ${(polls / base.polls).toFixed(2).padStart(18)}`,
    )
  }
}
