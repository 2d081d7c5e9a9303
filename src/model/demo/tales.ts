/** A tale that can be told at any length: its middle is told as far as the words go, and round again. */
export interface Tale {
  /** What it is about, in the words of who asks for it. */
  readonly subject: RegExp;
  readonly opening: readonly string[];
  readonly middle: readonly string[];
  readonly ending: readonly string[];
}

const lighthouse: Tale = {
  subject: /\blighthouse|\bsea\b|\bship|\bboat/i,
  opening: [
    'At the edge of a grey sea stood a lighthouse that had never once gone dark.',
    'Its keeper was an old woman called Marta, and she kept two books.',
    'In the first she wrote down every ship that passed, and in the second everything that the first had missed.',
    'People said that the second book was the more interesting one, though nobody had ever read it.',
  ],
  middle: [
    'One evening a small boat came in without a sail, and nobody sat in it.',
    'Marta tied it to the pier, wrote a line into each of her books, and put the kettle on.',
    'The next morning the boat was gone, and so was the last line of the second book.',
    'She did not mind much, since she remembered it well, and wrote it down again with a different pen.',
    'By noon the wind had turned, and the gulls argued about it the way gulls do.',
    'A letter arrived that had been posted eleven years before, and it asked a question which she had answered yesterday.',
    'She read it twice, laughed once, and pinned it to the wall above the stove.',
    'That night the light swept over the water as it always did, and for a moment something out there answered it.',
    'Marta counted slowly to ten, because that is how far away a thing is when you can count to ten before you are afraid.',
    'There was no second answer, only the sea, turning its pages one after the other.',
    'In the village they began to say that the lighthouse had learned to read.',
    'A child climbed all the two hundred and six steps to ask whether that was true.',
    'Marta gave her the second book and a pencil, and said that it was a good thing to check for oneself.',
    'The child read until the lamp was lit, and then she wrote one sentence of her own.',
    'When the fog came, it came politely, and stood outside of the door for an hour before it went in.',
    'The horn spoke, and was silent, and spoke again, like somebody who is sure of being understood in the end.',
  ],
  ending: [
    'Years later a ship passed that was in neither of the books, and the keeper, who was no longer a child, began a third.',
    'The light went round. The sea went on. And on the pier, neatly tied, lay a small boat without a sail.',
  ],
};

const nightTrain: Tale = {
  subject: /\btrain|\brailway|\bstation\b|\bjourney\b/i,
  opening: [
    'The night train to the north had eleven carriages, and on most nights a twelfth.',
    'Only Ilse, who punched the tickets, ever counted them on both ways.',
    'She did not report it, because the form for missing carriages had no line for one too many.',
  ],
  middle: [
    'In the twelfth the lamps were green, and all the seats looked backwards.',
    'Those who sat in it carried no luggage, but each of them held a ticket that was already punched.',
    'A boy asked her whether they would arrive on time, and she said that this had never yet been the question.',
    'Somewhere behind the third bridge the snow began, one flake at a time, as if it was being counted too.',
    'The stoker sang, the whistle answered, and a fox beside the rails waited politely until they had finished.',
    'At a station without a name an old man got on with a clock under his arm.',
    'He wound it up, set it to a time that nobody else had, and fell asleep at once.',
    'Ilse read the newspaper that he had left on the seat, and it was the one of the day after tomorrow.',
    'The weather in it was good, and so she put her umbrella into the box for lost things.',
    'In the dining car a lady asked for tea that tasted of rain, and the cook, who was from the coast, could make it.',
    'Two brothers played chess without a board, and both believed that they were winning.',
    'When the train took the long curve, one could see its own last window, and somebody in it who waved.',
    'Ilse waved back every time, since nobody had ever forbidden it.',
    'Towards four in the morning even the wheels talked more quietly.',
  ],
  ending: [
    'At the terminus she counted again: eleven carriages, and on the platform fresh snow with the prints of many shoes.',
    'She wrote “on time” into her book, and that was true for everybody.',
  ],
};

const clockmaker: Tale = {
  subject: /\bclock|\btime\b|\bcity\b|\btown\b/i,
  opening: [
    'In a town with seven towers lived a clockmaker called Tomas, who could not stand to be hurried.',
    'His clocks were never wrong, but each of them took a little longer over the good hours.',
    'People bought them gladly and did not know why their Sundays had become so wide.',
  ],
  middle: [
    'One day the mayor ordered a clock for the tallest tower, and it was to be exact.',
    'Tomas built it from brass and pear wood, and left out nothing except the hurry.',
    'On the first evening it struck eight, thought about it, and struck once more for the view.',
    'The baker complained that his bread had become better, and that he could not explain it.',
    'At school the last lesson was over before anybody had looked out of the window.',
    'A merchant from the capital measured the noon with three instruments, and each of them fell in love with another minute.',
    'The mayor came himself, with a list, and stayed for soup.',
    'A girl brought a watch that had stopped in the year of the flood, and asked what it was waiting for.',
    'Tomas listened to it for a whole week, and then told it that the water was gone.',
    'From then on it went, a bit carefully, like somebody who comes down the stairs in the dark.',
    'In autumn the swallows gathered on the great hand and left exactly when it let them.',
    'The six other towers began to listen, and after a while they agreed.',
  ],
  ending: [
    'When Tomas was old, he stopped his own clock for a moment, in order to see whether it could be done.',
    'It could, and the whole town remembers that moment, although nobody can say how long it was.',
  ],
};

export const tales: readonly [Tale, Tale, Tale] = [lighthouse, nightTrain, clockmaker];
