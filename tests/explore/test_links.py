from pskit.explore.links import EMPTY, Queues


def test_messages_arrive_in_order():
    links = Queues()
    content = links.append(links.append(EMPTY, 7), 9)
    (first,) = links.arrivals[content]
    (second,) = links.arrivals[first.rest]
    assert (first.messages, second.messages, second.rest) == ((7,), (9,), EMPTY)
    assert links.arrivals[EMPTY] == ()
    assert links.is_quiet(EMPTY)
    assert not links.is_quiet(content)


def test_equal_contents_have_equal_numbers():
    links = Queues()
    one = links.append(links.append(EMPTY, 1), 2)
    (arrival,) = links.arrivals[links.append(links.append(links.append(EMPTY, 5), 1), 2)]
    assert arrival.rest == one
    assert links.rename(one, lambda m: m + 1) == links.append(links.append(EMPTY, 2), 3)
