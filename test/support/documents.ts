/** The operations that tests send, as a client would write them. */
export const createSession = /* GraphQL */ `
  mutation Create($input: CreateChatSessionInput!) {
    createChatSession(input: $input) { id }
  }
`;

const inputRequest = /* GraphQL */ `
  __typename id turnId createdAt expiresAt
  ... on Question { question choices }
  ... on ToolApproval { toolCall { id name arguments status result } }
  ... on ClientToolCall { toolCall { id name arguments status result } }
`;

/** What a frontend usually asks of a turn that has ended. */
export const response = /* GraphQL */ `
  fragment Reply on ChatResponse {
    content
    finishReason
    tokensUsed
    costUsd
    toolCallsMade
    pendingInput { ${inputRequest} }
    usage { inputTokens cachedInputTokens outputTokens reasoningTokens totalTokens estimated }
    message { id content status role sequence }
    turn { id number status finishReason error { code message retryable } }
    session { id turnCount messageCount totalTokens totalCostUsd }
  }
`;

export const send = /* GraphQL */ `
  ${response}
  mutation Send($input: SendInput!) {
    send(input: $input) { ...Reply }
  }
`;

const events = /* GraphQL */ `
  ${response}
  fragment Call on ToolCall { id name arguments status result errorCode durationMs }
  fragment Event on StreamEvent {
    __typename
    ... on TurnEvent { turnId sequence cursor at }
    ... on TurnStarted { turn { id number status userMessage { id content } } }
    ... on TextDelta { step messageId delta }
    ... on ThinkingDelta { step delta }
    ... on StepCompleted {
      step
      costUsd
      usage { inputTokens cachedInputTokens outputTokens reasoningTokens totalTokens estimated }
      budget { spentCostUsd spentTokens }
      assessment { completed confidence needsClarification reasons }
    }
    ... on ToolCallStarted { step toolCall { ...Call } }
    ... on ToolCallCompleted { step toolCall { ...Call } }
    ... on DiagnosisReported { step toolCallId category suggestion }
    ... on InputRequested { request { ${inputRequest} } }
    ... on InputResolved { requestId }
    ... on TurnCompleted { response { ...Reply } }
    ... on TurnFailed { error { code message retryable } response { ...Reply } }
    ... on TurnStopped { response { ...Reply } }
  }
`;

export const stream = /* GraphQL */ `
  ${events}
  subscription Stream($input: StreamInput!) {
    stream(input: $input) { ...Event }
  }
`;

export const turnEvents = /* GraphQL */ `
  ${events}
  subscription Follow($turnId: ID!, $after: String) {
    turnEvents(turnId: $turnId, after: $after) { ...Event }
  }
`;

export const seed = /* GraphQL */ `
  mutation Seed($input: SeedHistoryInput!) {
    seedHistory(input: $input) {
      seededCount
      skippedSystemCount
      roleCounts
      contentDigest
      session { id turnCount messageCount }
    }
  }
`;

export const stop = /* GraphQL */ `
  mutation Stop($sessionId: ID!, $turnId: ID) {
    stop(sessionId: $sessionId, turnId: $turnId) { id status finishReason }
  }
`;

export const fork = /* GraphQL */ `
  mutation Fork($input: ForkChatSessionInput!) {
    forkChatSession(input: $input) { id }
  }
`;

export const regenerate = /* GraphQL */ `
  ${response}
  mutation Regenerate($input: RegenerateInput!) {
    regenerate(input: $input) { ...Reply }
  }
`;

/** All that forkChatSession copies. */
export const copied = /* GraphQL */ `
  query Copied($id: ID!) {
    chatSession(id: $id) {
      title model systemPrompt maxHistory maxStepsPerTurn metadata
      messages(first: 100) {
        nodes {
          id sequence role content status createdAt toolCallId
          toolCalls { id name arguments result status }
          images { url }
        }
      }
    }
  }
`;

export const decideApproval = /* GraphQL */ `
  mutation Decide($input: DecideApprovalInput!) {
    decideApproval(input: $input) { id status }
  }
`;

export const submitToolResult = /* GraphQL */ `
  mutation Submit($input: SubmitToolResultInput!) {
    submitToolResult(input: $input) { id status }
  }
`;

export const answerQuestion = /* GraphQL */ `
  mutation Answer($input: AnswerQuestionInput!) {
    answerQuestion(input: $input) { id status }
  }
`;

export const session = /* GraphQL */ `
  query Session($id: ID!) {
    chatSession(id: $id) {
      id
      status
      turnCount
      messageCount
      totalTokens
      totalCostUsd
      usage { inputTokens cachedInputTokens outputTokens reasoningTokens totalTokens estimated }
      budget { spentCostUsd spentTokens remainingCostUsd remainingTokens }
      history { id sequence role content status seeded clientMessageId turn { id } }
      activeTurn { id status }
      pendingInput { ${inputRequest} }
      turns(first: 100) {
        nodes { id number status finishReason error { code retryable } userMessage { id content } messages { id role content } }
      }
      modelCalls(first: 100) {
        totalCount
        nodes { id step costUsd usage { inputTokens cachedInputTokens outputTokens reasoningTokens totalTokens estimated } error { code } }
      }
      traceEvents(first: 100) { nodes { sequence type data } }
    }
  }
`;

export const eventsCursor = /* GraphQL */ `
  query Stand($id: ID!) {
    chatSession(id: $id) { eventsCursor }
  }
`;

export const sessionEvents = /* GraphQL */ `
  ${events}
  subscription FollowSession($sessionId: ID!, $after: String) {
    sessionEvents(sessionId: $sessionId, after: $after) { ...Event }
  }
`;
