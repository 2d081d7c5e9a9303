/** Stands in the variables of the tabs for the session that was made last; the page fills it in. */
export const lastSession = 'LAST_SESSION';

export interface GraphiQLTab {
  readonly query: string;
  readonly variables?: string;
  readonly headers?: string;
}

const json = (value: unknown) => JSON.stringify(value, null, 2);

// Lines are short, since the editor has half of the window and cuts them off.
const createSession = `# 1. Start here: press the play button (Ctrl-Enter).
#
# This makes a chat session. The tabs to the right
# go on with the session you made last: this page
# writes its id wherever their variables say
# "${lastSession}". To go on with another one,
# write the id of that session there.
mutation CreateSession {
  createChatSession(
    input: {
      title: "My first chat"
      systemPrompt: "Be friendly and answer briefly."
    }
  ) {
    id
    title
    model
    budget {
      maxCostUsd
      maxTokens
    }
  }
}
`;

const send = `# 2. Sends a message and waits for the whole reply.
#
# Each call is one turn of the session from tab 1.
# The model sees all turns before it.
mutation Send($input: SendInput!) {
  send(input: $input) {
    content
    finishReason
    tokensUsed
    costUsd
    session {
      turnCount
      totalCostUsd
    }
  }
}
`;

const stream = `# 3. Sends a message and streams the turn live.
#
# GraphiQL shows one event at a time: each takes the
# place of the one before it. The whole text is in the
# last, TurnCompleted. TurnFailed and TurnStopped are
# the other two that a turn can end with.
#
# The square button, like a closed page, only leaves
# the turn: it is finished and stored, and tab 5 shows
# it. To end it, use the tab Stop.
subscription Stream($input: StreamInput!) {
  stream(input: $input) {
    __typename
    ... on TurnEvent {
      sequence
    }
    ... on ThinkingDelta {
      delta
    }
    ... on TextDelta {
      delta
    }
    ... on StepCompleted {
      costUsd
    }
    ... on TurnCompleted {
      response {
        content
        finishReason
        tokensUsed
        costUsd
      }
    }
    ... on TurnFailed {
      error {
        code
        message
        retryable
      }
    }
  }
}
`;

const seed = `# 4. Adds earlier messages, for example from another
# system: all of them or none. They are history for
# the model, and no turns.
mutation SeedHistory($input: SeedHistoryInput!) {
  seedHistory(input: $input) {
    seededCount
    roleCounts
    session {
      messageCount
      turnCount
    }
  }
}
`;

const historyAndCost = `# 5. What was said, and what it cost, to the last digit.
query HistoryAndCost($id: ID!) {
  chatSession(id: $id) {
    title
    history {
      sequence
      role
      content
      status
      seeded
    }
    turnCount
    totalTokens
    totalCostUsd
    budget {
      remainingCostUsd
      remainingTokens
    }
    modelCalls(last: 10) {
      nodes {
        model
        costUsd
        usage {
          inputTokens
          outputTokens
        }
        latencyMs
      }
    }
  }
}
`;

const stop = `# 6. Ends the turn that runs in the session, at once.
#
# The text that came is kept, and what it cost is
# booked. The answer is null when nothing runs: start
# a turn in tab 3, then come here before it has ended.
mutation Stop($sessionId: ID!) {
  stop(sessionId: $sessionId) {
    number
    status
    costUsd
    response {
      content
      finishReason
    }
  }
}
`;

const signInHint = `# This server asks for a token: write yours in place of
# TOKEN in the Headers pane below, in one of the tabs.
# Then press "Re-fetch GraphQL schema" (bottom left).
#
`;

/** What the Headers pane holds on a server that asks for a token; the page takes the token of another tab for it. */
export const tokenToCome = 'Bearer TOKEN';
export const tokenHeaders = json({ authorization: tokenToCome });

/** The tabs that a newcomer finds, to be run from left to right. */
export function graphiqlTabs({ authRequired }: { readonly authRequired: boolean }): GraphiQLTab[] {
  const tabs: GraphiQLTab[] = [
    // GraphiQL does not show the variables of the first tab.
    { query: createSession },
    { query: send, variables: json({ input: { sessionId: lastSession, message: 'Hello, who are you?' } }) },
    { query: stream, variables: json({ input: { sessionId: lastSession, message: 'Tell me a short story.' } }) },
    {
      query: seed,
      variables: json({
        input: {
          sessionId: lastSession,
          messages: [
            { role: 'USER', content: 'My name is Ada.' },
            { role: 'ASSISTANT', content: 'Nice to meet you, Ada.' },
          ],
        },
      }),
    },
    { query: historyAndCost, variables: json({ id: lastSession }) },
    { query: stop, variables: json({ sessionId: lastSession }) },
  ];
  return authRequired ? tabs.map((tab) => ({ ...tab, query: signInHint + tab.query, headers: tokenHeaders })) : tabs;
}
