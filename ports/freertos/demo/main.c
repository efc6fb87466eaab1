/* SPDX-License-Identifier: MIT */
/*
 * main.c - the demonstration: ordinary traffic between tasks, for DEMO_SECONDS, in which there must be no report. Then
 * bugs.c plants its bugs.
 *
 * Two tasks and a queue: a producer allocates messages, a consumer checks and frees them. A third one uses everything
 * else that allocates: tasks that come and go, a timer, an event group, a stream buffer, a mutex.
 */
#include <stdint.h>
#include <string.h>

#include "FreeRTOS.h"
#include "event_groups.h"
#include "queue.h"
#include "semphr.h"
#include "stream_buffer.h"
#include "task.h"
#include "timers.h"

#include "board.h"
#include "bugs.h"

struct message {
	uint32_t number;
	uint16_t size;
	uint8_t sum;
	uint8_t bytes[];
};

static QueueHandle_t messages;
static volatile unsigned long received, rounds, ticks;
static volatile int stop;

static uint8_t sum_of(const uint8_t *bytes, size_t size)
{
	uint8_t sum = 0;

	while (size--)
		sum = (uint8_t)(sum * 31 + *bytes++);
	return sum;
}

#if DEMO_HEAP != 1
static void *get_memory(uint32_t number, size_t size)
{
	return pvPortMalloc(size);
}

static void give_memory(void *memory)
{
	vPortFree(memory);
}
#else
/* Nothing is ever freed: more pieces than the queue and the two tasks hold. */
static void *get_memory(uint32_t number, size_t size)
{
	static uint32_t pieces[16][18];

	return pieces[number % 16];
}

static void give_memory(void *memory)
{
}
#endif

static struct message *new_message(uint32_t number)
{
	const size_t size = 1 + number % 61;
	struct message *message = get_memory(number, sizeof(*message) + size);
	size_t i;

	if (!message)
		return NULL;
	message->number = number;
	message->size = (uint16_t)size;
	for (i = 0; i < size; i++)
		message->bytes[i] = (uint8_t)(number + i);
	message->sum = sum_of(message->bytes, size);
	return message;
}

static void end_task(void)
{
#if DEMO_HEAP != 1
	vTaskDelete(NULL);
#else
	vTaskSuspend(NULL);
#endif
}

static void producer(void *argument)
{
	uint32_t number;

	for (number = 0; !stop; number++) {
		struct message *message = new_message(number);

		configASSERT(message);
		xQueueSend(messages, &message, portMAX_DELAY);
		/* Leave the idle task time to free what tasks leave behind. */
		if (number % 16 == 0)
			vTaskDelay(pdMS_TO_TICKS(4));
	}
	end_task();
}

static void consumer(void *argument)
{
	struct message *message;
	uint8_t copy[64];

	while (!stop || uxQueueMessagesWaiting(messages)) {
		if (xQueueReceive(messages, &message, pdMS_TO_TICKS(20)) != pdPASS)
			continue;
		memcpy(copy, message->bytes, message->size);
		configASSERT(sum_of(copy, message->size) == message->sum);
		give_memory(message);
		received++;
	}
	end_task();
}

/* --- Everything else that allocates ------------------------------------------------------------------------ */

#if DEMO_HEAP != 1

static EventGroupHandle_t events;
static StreamBufferHandle_t stream;
static SemaphoreHandle_t mutex;

/* Bits of the event group. */
enum { OF_TIMER = 1, OF_DYNAMIC = 2, OF_STATIC = 4, EVERYTHING = 7 };

static void on_timer(TimerHandle_t timer)
{
	ticks++;
	xEventGroupSetBits(events, OF_TIMER);
}

/* Dies with a live frame, whose redzones stay behind in its stack: by its own hand, or by the supervisor's. */
static void child(void *argument)
{
	char text[24];
	size_t size;

	xSemaphoreTake(mutex, portMAX_DELAY);
	size = xStreamBufferReceive(stream, text, sizeof(text), portMAX_DELAY);
	configASSERT(size && text[size - 1]);
	xSemaphoreGive(mutex);
	if ((uintptr_t)argument == OF_DYNAMIC) {
		xEventGroupSetBits(events, OF_DYNAMIC);
		vTaskDelete(NULL);
	}
	xEventGroupSetBits(events, OF_STATIC);
	vTaskSuspend(NULL);
}

static void one_round(void)
{
	static StackType_t stack[configMINIMAL_STACK_SIZE];
	static StaticTask_t task;
	const UBaseType_t before = uxTaskGetNumberOfTasks();
	TaskHandle_t static_task;
	TimerHandle_t timer;

	events = xEventGroupCreate();
	stream = xStreamBufferCreate(100, 1);
	mutex = xSemaphoreCreateMutex();
	timer = xTimerCreate("blink", pdMS_TO_TICKS(2), pdTRUE, NULL, on_timer);
	configASSERT(events && stream && mutex && timer);
	xTimerStart(timer, portMAX_DELAY);
	configASSERT(xTaskCreate(child, "dynamic", configMINIMAL_STACK_SIZE, (void *)OF_DYNAMIC, 3,
				 NULL) == pdPASS);
	static_task = xTaskCreateStatic(child, "static", configMINIMAL_STACK_SIZE,
					(void *)OF_STATIC, 3, stack, &task);
	configASSERT(static_task);
	/* The child that runs first reads up to all of it. */
	do
		xStreamBufferSend(stream, "text", 4, portMAX_DELAY);
	while ((xEventGroupWaitBits(events, EVERYTHING, pdFALSE, pdTRUE, 1) & EVERYTHING) !=
	       EVERYTHING);
	vTaskDelete(static_task);
	xTimerDelete(timer, portMAX_DELAY);
	/* The idle task frees the one that ended by itself. */
	while (uxTaskGetNumberOfTasks() > before)
		vTaskDelay(1);
	vSemaphoreDelete(mutex);
	vStreamBufferDelete(stream);
	vEventGroupDelete(events);
	rounds++;
}

#else

static void one_round(void)
{
	vTaskDelay(1);
	rounds++;
}

#endif

static void supervisor(void *argument)
{
	const TickType_t end = xTaskGetTickCount() + pdMS_TO_TICKS(DEMO_SECONDS * 1000UL);

	while ((int32_t)(end - xTaskGetTickCount()) > 0 || !received)
		one_round();
	stop = 1;
	vTaskDelay(pdMS_TO_TICKS(100));
	board_puts("traffic: ");
	board_putu(received);
	board_puts(" messages, ");
	board_putu(rounds);
	board_puts(" rounds, ");
	board_putu(ticks);
	board_puts(" timers\n");
#if DEMO_BUGS
	plant_bugs();
#endif
	board_puts("end\n");
	board_exit(0);
}

void vApplicationMallocFailedHook(void)
{
	board_puts("out of memory\n");
	board_exit(3);
}

/* More memory of mps2-an385, which the port does not know: it must refuse this. */
#define NO_SHADOW ((void *)0x21000000)

/* heap_5: memory in several pieces. */
static void define_heap(void)
{
#if DEMO_HEAP == 5
	static uint8_t pieces[2][configTOTAL_HEAP_SIZE / 2];
	static const HeapRegion_t low_first[] = {
		{pieces[0], sizeof(pieces[0])},
		{pieces[1], sizeof(pieces[1])},
#ifdef DEMO_REFUSE_REGION
		{NO_SHADOW, 4096},
#endif
		{NULL, 0},
	};

	vPortDefineHeapRegions(low_first);
#endif
}

int main(void)
{
	board_puts("FreeRTOS " tskKERNEL_VERSION_NUMBER "\n");
	define_heap();
#ifdef DEMO_REFUSE_STACK
	static StaticTask_t task;

	xTaskCreateStatic(consumer, "lost", configMINIMAL_STACK_SIZE, NULL, 2, NO_SHADOW, &task);
#endif
	messages = xQueueCreate(8, sizeof(struct message *));
	xTaskCreate(producer, "producer", configMINIMAL_STACK_SIZE, NULL, 2, NULL);
	xTaskCreate(consumer, "consumer", configMINIMAL_STACK_SIZE, NULL, 2, NULL);
	xTaskCreate(supervisor, "supervisor", 2 * configMINIMAL_STACK_SIZE, NULL, 4, NULL);
	vTaskStartScheduler();
	return 1;
}
