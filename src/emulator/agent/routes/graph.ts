import type { Graph } from '../graphs.ts'

type Json = Record<string, unknown>

/** A graph's nodes and edges, as `GET /assistants/{id}/graph` draws them. */
export function graphWire(graph: Graph): Json {
  const names = graph.nodes.map((node) => node.name)
  const stops = ['__start__', ...names, '__end__']
  return {
    nodes: stops.map((name) =>
      name === '__end__' ? { id: name } : { id: name, type: 'runnable', data: { name } },
    ),
    edges: stops.slice(1).map((target, index) => ({ source: stops[index], target })),
  }
}

export function schemasWire(graph: Graph): Json {
  return { graph_id: graph.id }
}
